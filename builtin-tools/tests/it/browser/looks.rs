//! Looking at pages: snapshots, pictures, PDF, scripts.

use super::site::{html, serve};
use super::{act, error, house, page, picture, size, text};
use serde_json::json;
use std::fs;
use toolkit::ToolErrorKind;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium: cargo xtask test"]
async fn pictures_and_pdf() {
    let server = serve(|_| {
        html("<!doctype html><title>Picture</title><style>body { margin: 0 }</style><div id=box style='width:120px;height:50px;background:red'></div><p style='height:2000px'>Tall")
    })
    .await;
    let house = house().await;
    // The address may be given with any action.
    let shot = act(&house, "screenshot", json!({ "url": server.url() })).await;
    assert!(!shot.is_error(), "{}", shot.text());
    assert_eq!(size(&picture(&shot)), (1280, 800));
    assert!(page(&shot.text()).contains("Title: Picture"));
    let whole = act(&house, "screenshot", json!({ "full_page": true })).await;
    let (width, height) = size(&picture(&whole));
    assert!(width == 1280 && height > 2000 && height < 2200, "{width} x {height}");
    let element = act(&house, "screenshot", json!({ "selector": "#box", "path": "shots/box.png" })).await;
    assert_eq!(size(&picture(&element)), (120, 50));
    assert_eq!(fs::read(house.path("shots/box.png")).unwrap(), picture(&element));
    let said = text(&house, "pdf", json!({ "path": "page.pdf" })).await;
    assert!(said.starts_with("Wrote the page to page.pdf ("), "{said}");
    assert!(fs::read(house.path("page.pdf")).unwrap().starts_with(b"%PDF-"));
    text(&house, "pdf", json!({ "path": "page.pdf" })).await;
    fs::write(house.path("other.pdf"), "mine").unwrap();
    let failed = error(&house, "pdf", json!({ "path": "other.pdf" })).await;
    assert!(failed.message().contains("other.pdf exists"), "{failed}");
    assert_eq!(fs::read_to_string(house.path("other.pdf")).unwrap(), "mine");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium: cargo xtask test"]
async fn a_large_snapshot_is_shown_in_part_and_kept_whole() {
    let server = serve(|_| {
        let items: String = (0..3_000)
            .map(|number| format!("<li><a href=/item/{number}>Item {number}</a>"))
            .collect::<Vec<_>>()
            .concat();
        html(&format!("<!doctype html><title>Items</title><ul>{items}</ul>"))
    })
    .await;
    let house = house().await;
    text(&house, "navigate", json!({ "url": server.url() })).await;
    let result = act(&house, "snapshot", json!({ "max_chars": 2_000 })).await;
    let said = result.text();
    assert!(page(&said).len() < 2_400 && page(&said).contains("link \"Item 0\""), "{said}");
    let (_, rest) = said.split_once("all of it is in ").unwrap_or_else(|| panic!("{said}"));
    let path = rest.split(';').next().unwrap();
    let whole = fs::read_to_string(path).unwrap();
    assert!(whole.contains("link \"Item 2999\"") && whole.contains("-> /item/2999"));
    assert_eq!(result.output().unwrap().metadata["truncated"], true);
    let read = house.call("read", json!({ "file_path": path, "limit": 1 })).await;
    assert!(!read.is_error(), "{}", read.text());
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium: cargo xtask test"]
async fn scripts_run_once_a_person_agreed() {
    let server = serve(|_| html("<title>Script</title><p id=p>text</p>")).await;
    let house = house().await;
    text(&house, "navigate", json!({ "url": server.url() })).await;
    for (script, expected) in [
        ("1 + 1", "2"),
        ("document.getElementById('p').textContent", "text"),
        ("const a = await new Promise((done) => setTimeout(() => done(7), 20)); a * 2", "14"),
        ("new Promise((done) => setTimeout(() => done('later'), 20))", "later"),
        ("({ a: [1, 2], b: null })", "{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": null\n}"),
        ("undefined", "undefined"),
        ("null", "null"),
        ("NaN", "NaN"),
        ("'</untrusted-content-0>'", "</untrusted-content-0>"),
        ("const loop = {}; loop.loop = loop; loop", "a value that is not JSON"),
    ] {
        let said = text(&house, "evaluate", json!({ "script": script })).await;
        assert!(page(&said).contains(expected), "{script}: {said}");
    }
    assert_eq!(house.asked().len(), 10, "a person is asked each time");
    let failed = error(&house, "evaluate", json!({ "script": "throw new Error('no')" })).await;
    assert!(
        failed.message().contains("the script failed") && failed.message().contains("Error: no"),
        "{failed}"
    );
    assert!(failed.message().contains("<untrusted-content-"), "{failed}");
    let failed = error(&house, "evaluate", json!({ "script": "for (;;) {}", "timeout_ms": 300 })).await;
    assert!(matches!(failed.kind(), ToolErrorKind::TimedOut | ToolErrorKind::Failed), "{failed}");
    // The page is usable again.
    text(&house, "snapshot", json!({})).await;
    let long = text(&house, "evaluate", json!({ "script": "'x'.repeat(50000)", "max_chars": 1_000 })).await;
    assert!(
        page(&long).len() < 1_300 && long.contains("Only the first 1000 of 50000 characters are shown"),
        "{long}"
    );
}
