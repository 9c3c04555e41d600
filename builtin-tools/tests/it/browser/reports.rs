//! Dialogs, downloads and new tabs are reported by the call that caused them.

use super::site::{html, serve};
use super::{act, error, house, house_with, page, text};
use serde_json::json;
use std::fs;
use toolkit_loopback::Answer;

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium: cargo xtask test"]
async fn dialogs_are_answered_and_reported() {
    let server = serve(|_| {
        html("<!doctype html><title>Dialogs</title><button id=alert onclick=\"alert('one'); document.title = 'alerted'\">A</button>\
            <button id=confirm onclick=\"document.title = confirm('Sure?')\">C</button>\
            <button id=prompt onclick=\"document.title = prompt('Name?', 'nobody')\">P</button>\
            <button id=leave onclick=\"onbeforeunload = (event) => event.preventDefault(); document.title = 'armed'\">L</button>")
    })
    .await;
    let house = house().await;
    text(&house, "navigate", json!({ "url": server.url() })).await;
    for (arguments, dialog, title) in [
        (json!({ "selector": "#alert" }), "Dialog (alert, accepted): one", "alerted"),
        (json!({ "selector": "#confirm" }), "Dialog (confirm, dismissed): Sure?", "false"),
        (json!({ "selector": "#confirm", "dialog": "accept" }), "Dialog (confirm, accepted): Sure?", "true"),
        (json!({ "selector": "#prompt" }), "Dialog (prompt, dismissed): Name?", "null"),
        (json!({ "selector": "#prompt", "dialog": "accept" }), "Dialog (prompt, accepted): Name?", "nobody"),
        (
            json!({ "selector": "#prompt", "dialog": "accept", "dialog_text": "Ada" }),
            "Dialog (prompt, accepted): Name?",
            "Ada",
        ),
        (json!({ "selector": "#leave" }), "Title: armed", "armed"),
    ] {
        let said = text(&house, "click", arguments.clone()).await;
        let page = page(&said);
        assert!(page.contains(dialog) && page.contains(&format!("Title: {title}")), "{arguments}: {said}");
    }
    let left = text(&house, "navigate", json!({ "url": format!("{}/next", server.url()) })).await;
    assert!(
        page(&left).contains("/next") && page(&left).contains("Dialog (beforeunload, accepted)"),
        "{left}"
    );

    let accepting = house_with(&json!({ "dialogs": "accept" }), super::allow).await;
    text(&accepting, "navigate", json!({ "url": server.url() })).await;
    let said = text(&accepting, "click", json!({ "selector": "#confirm" })).await;
    assert!(page(&said).contains("Dialog (confirm, accepted): Sure?"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium: cargo xtask test"]
async fn tabs_open_and_close() {
    let server = serve(|request| match request.path.as_str() {
        "/new" => html("<title>New</title><button id=close onclick='window.close()'>Close</button>"),
        "/third" => html("<title>Third</title>"),
        _ => html("<title>First</title><a id=link target=_blank href=/new rel=opener>New</a><button id=open onclick=\"window.open('/new')\">Open</button>"),
    })
    .await;
    let house = house().await;
    text(&house, "navigate", json!({ "url": server.url() })).await;
    let said = text(&house, "click", json!({ "selector": "#link" })).await;
    assert!(page(&said).contains(&format!("New tab t2: {}/new", server.url())), "{said}");
    assert!(said.contains("Tab: t1 of 2.") && page(&said).contains("Title: First"), "{said}");
    let other = text(&house, "snapshot", json!({ "tab": "t2" })).await;
    assert!(page(&other).contains("Title: New"), "{other}");
    let listed = text(&house, "tabs", json!({})).await;
    assert!(page(&listed).contains("t1: First ") && page(&listed).contains("t2 (active): New "), "{listed}");
    let opened = text(&house, "open", json!({ "url": format!("{}/third", server.url()) })).await;
    assert!(opened.starts_with("Opened tab t3.") && page(&opened).contains("Title: Third"), "{opened}");
    let closed = text(&house, "click", json!({ "tab": "t2", "selector": "#close" })).await;
    assert!(closed.contains("t2") && closed.contains("was closed by the page"), "{closed}");
    let closed = text(&house, "close", json!({ "tab": "t3" })).await;
    assert!(closed.starts_with("Closed tab t3.") && !closed.contains("by the page"), "{closed}");
    let failed = error(&house, "snapshot", json!({ "tab": "t9" })).await;
    assert!(failed.message().contains("there is no tab t9; those that are open are t1"), "{failed}");
    let closed = text(&house, "close", json!({})).await;
    assert_eq!(closed, "Closed the browser.");
    assert_eq!(text(&house, "close", json!({})).await, "There is no browser to close.");
    let failed = error(&house, "snapshot", json!({})).await;
    assert!(failed.message().contains("no page is open: call `navigate`"), "{failed}");
}

/// Chromium does not answer an event of a page that closed itself meanwhile.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium: cargo xtask test"]
async fn a_tab_may_close_at_any_event() {
    let server = serve(|request| match request.path.as_str() {
        "/button" => html("<button id=close onmousedown='window.close()'>Close</button>"),
        "/key" => html("<input id=close onkeydown='window.close()'>"),
        "/drag" => html("<p id=close onmousemove='event.buttons && window.close()'>Drag</p><p id=end>Here</p>"),
        _ => html(
            "<button id=button onclick=\"window.open('/button')\">1</button><button id=key onclick=\"window.open('/key')\">2</button><button id=drag onclick=\"window.open('/drag')\">3</button>",
        ),
    })
    .await;
    let house = house().await;
    text(&house, "navigate", json!({ "url": server.url() })).await;
    let actions = [
        ("button", "click", json!({ "selector": "#close" })),
        ("button", "click", json!({ "selector": "#close", "double": true })),
        ("key", "press", json!({ "selector": "#close", "key": "a" })),
        ("drag", "drag", json!({ "selector": "#close", "to_selector": "#end" })),
    ];
    for (number, (opens, action, mut arguments)) in (2..).zip(actions) {
        let tab = format!("t{number}");
        text(&house, "click", json!({ "tab": "t1", "selector": format!("#{opens}") })).await;
        arguments["tab"] = tab.clone().into();
        let closed = text(&house, action, arguments).await;
        assert!(closed.contains(&format!("Tab {tab} was closed by the page")), "{opens}: {closed}");
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium: cargo xtask test"]
async fn downloads_are_saved_by_the_rules_of_write() {
    let server = serve(|request| match request.path.as_str() {
        "/file" => Answer::bytes(200, "a,b\n1,2\n")
            .with_header("content-type", "text/csv")
            .with_header("content-disposition", "attachment; filename=\"../../re port.csv\""),
        _ => html("<title>Files</title><a id=get href=/file>Get</a><a id=made download=made.txt href='data:text/plain,made'>Made</a>"),
    })
    .await;
    let house = house().await;
    text(&house, "navigate", json!({ "url": server.url() })).await;
    let said = text(&house, "click", json!({ "selector": "#get" })).await;
    assert!(page(&said).contains("(8 bytes) was saved as downloads/"), "{said}");
    let asked = house.asked();
    assert!(
        asked.iter().any(|ask| ask.to_text().contains("a download of 8 bytes from http://127.0.0.1")),
        "{asked:?}"
    );
    text(&house, "click", json!({ "selector": "#made" })).await;
    let again = act(&house, "navigate", json!({ "url": format!("{}/file", server.url()) })).await;
    assert!(!again.is_error(), "{}", again.text());
    let mut names: Vec<String> = fs::read_dir(house.path("downloads"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names.len(), 3, "{names:?}");
    assert!(
        names.contains(&"made.txt".to_owned()) && names.iter().any(|name| name.ends_with(" (1).csv")),
        "{names:?}"
    );
    let first = names.iter().find(|name| name.ends_with("port.csv")).unwrap();
    assert_eq!(fs::read_to_string(house.path("downloads").join(first)).unwrap(), "a,b\n1,2\n");
    assert_eq!(again.output().unwrap().files_modified.len(), 1);

    let refusing = house_with(&json!({}), super::deny).await;
    text(&refusing, "navigate", json!({ "url": server.url() })).await;
    let said = text(&refusing, "click", json!({ "selector": "#get" })).await;
    assert!(page(&said).contains("was not saved: ") && page(&said).contains("not today"), "{said}");
    assert!(!refusing.path("downloads").exists());
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium: cargo xtask test"]
async fn the_console_is_kept_and_statuses_are_told() {
    let server = serve(|request| match request.path.as_str() {
        "/missing" => Answer::bytes(404, "<title>Nothing</title>").with_header("content-type", "text/html"),
        _ => html("<title>Console</title><script>console.log('hello', { a: 1 }); console.error('bad'); setTimeout(() => { throw new Error('thrown'); });</script>"),
    })
    .await;
    let house = house().await;
    let opened = text(&house, "navigate", json!({ "url": server.url() })).await;
    let said = text(&house, "console", json!({})).await;
    assert!(opened.contains("The console has 2 new errors."), "{opened} {said}");
    let list = page(&said);
    assert!(
        list.contains("[info] hello {a: 1}")
            && list.contains("[error] bad")
            && list.contains("[error] Error: thrown"),
        "{said}"
    );
    let empty = text(&house, "console", json!({})).await;
    assert!(empty.starts_with("The console has no new messages."), "{empty}");
    let missing = text(&house, "navigate", json!({ "url": format!("{}/missing", server.url()) })).await;
    assert!(page(&missing).contains("Status: 404"), "{missing}");
}
