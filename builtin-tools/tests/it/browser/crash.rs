//! A browser, or a page of it, that ends in the middle of an action; and the end of a session.

use super::site::{html, serve};
use super::{act, error, house, house_with, page, text};
use serde_json::json;
use std::fs;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;
use toolkit::ToolErrorKind;
use toolkit_loopback::{Answer, Loopback};

/// Processes that descend from this one, with this in their command line.
fn processes(part: &str) -> Vec<u32> {
    let all: Vec<u32> = fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok()?.parse().ok())
        .collect();
    let line = |pid: u32| {
        let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&bytes).replace('\0', " ")
    };
    all.into_iter().filter(|pid| line(*pid).contains(part) && is_below(*pid)).collect()
}

fn is_below(mut pid: u32) -> bool {
    while pid > 1 {
        if pid == std::process::id() {
            return true;
        }
        let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
        let Some((_, rest)) = stat.rsplit_once(')') else { return false };
        pid = rest.split_whitespace().nth(1).and_then(|parent| parent.parse().ok()).unwrap_or_default();
    }
    false
}

fn kill(pids: &[u32]) {
    assert!(!pids.is_empty(), "there is such a process");
    let pids = pids.iter().map(ToString::to_string);
    assert!(Command::new("kill").arg("-9").args(pids).status().unwrap().success());
}

/// The process of the browser itself: its children have a type.
fn browser() -> Vec<u32> {
    let children = processes("--type=");
    processes("--remote-debugging-pipe").into_iter().filter(|pid| !children.contains(pid)).collect()
}

async fn until(what: &str, mut is: impl FnMut() -> bool) {
    let waiting = async {
        while !is() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), waiting).await.expect(what);
}

async fn server() -> Loopback {
    serve(|request| match request.path.as_str() {
        "/never" => Answer::Hang,
        _ => html("<title>Page</title><a href=/never>Never</a>"),
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium: cargo xtask test"]
async fn a_killed_browser_is_an_error_at_once_and_the_next_call_starts_another() {
    let server = server().await;
    let house = Arc::new(house().await);
    text(&house, "navigate", json!({ "url": server.url() })).await;
    let before = server.requests().len();
    let waiting = {
        let house = Arc::clone(&house);
        tokio::spawn(async move { act(&house, "click", json!({ "selector": "a" })).await })
    };
    server.received(before + 1).await;
    kill(&browser());
    let result =
        tokio::time::timeout(Duration::from_secs(20), waiting).await.expect("it does not hang").unwrap();
    let failed = result.outcome.unwrap_err();
    assert_eq!(failed.kind(), ToolErrorKind::Unavailable, "{failed}");
    assert!(
        failed.message().contains("the browser is gone") && failed.message().contains("start a new one"),
        "{failed}"
    );
    let failed = error(&house, "snapshot", json!({})).await;
    assert!(failed.message().contains("no page is open"), "{failed}");
    let again = text(&house, "navigate", json!({ "url": server.url() })).await;
    assert!(page(&again).contains("Title: Page"), "{again}");
    assert_eq!(browser().len(), 1, "nothing of the old one is left");
}

/// The renderer with the most memory. Others are in store for the next page.
fn largest_renderer() -> u32 {
    let resident = |pid: &u32| {
        let sizes = fs::read_to_string(format!("/proc/{pid}/statm")).unwrap_or_default();
        sizes.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or_default()
    };
    processes("--type=renderer").into_iter().max_by_key(resident).expect("a renderer")
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium: cargo xtask test"]
async fn a_page_that_crashes_takes_only_its_tab() {
    let server = server().await;
    let house = Arc::new(house().await);
    text(&house, "navigate", json!({ "url": server.url() })).await;
    let waiting = {
        let house = Arc::clone(&house);
        let script = "globalThis.much = new Uint8Array(3e8).fill(1); new Promise(() => fetch('/started'))";
        let script = json!({ "script": script, "timeout_ms": 60_000 });
        tokio::spawn(async move { act(&house, "evaluate", script).await })
    };
    until("the script has begun", || server.requests().iter().any(|request| request.path == "/started"))
        .await;
    kill(&[largest_renderer()]);
    let result =
        tokio::time::timeout(Duration::from_secs(20), waiting).await.expect("it does not hang").unwrap();
    assert!(result.is_error() && result.text().contains("the page's process crashed"), "{}", result.text());
    let again = text(&house, "navigate", json!({ "url": server.url() })).await;
    assert!(page(&again).contains("Title: Page") && page(&again).contains("has crashed"), "{again}");
    text(&house, "snapshot", json!({})).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium: cargo xtask test"]
async fn nothing_outlives_the_session() {
    let server = server().await;
    let house = house().await;
    text(&house, "navigate", json!({ "url": server.url() })).await;
    let directory = directory(browser()[0]);
    assert!(directory.starts_with('/') && fs::metadata(&directory).is_ok(), "{directory}");
    drop(house);
    until("all processes have ended", || processes("--user-data-dir").is_empty()).await;
    until("its files are removed", || fs::metadata(&directory).is_err()).await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium: cargo xtask test"]
async fn an_idle_browser_is_closed() {
    let server = server().await;
    let house = house_with(&json!({ "idleSeconds": 1 }), super::allow).await;
    text(&house, "navigate", json!({ "url": server.url() })).await;
    until("it is closed", || processes("--user-data-dir").is_empty()).await;
    let again = text(&house, "navigate", json!({ "url": server.url() })).await;
    assert!(
        again.contains("the browser was restarted (it was closed after 1 seconds without a call)"),
        "{again}"
    );
}

/// The directory of a browser's files.
fn directory(pid: u32) -> String {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap();
    let line = String::from_utf8_lossy(&line).into_owned();
    let data = line.split('\0').find_map(|argument| argument.strip_prefix("--user-data-dir=")).unwrap();
    data.strip_suffix("/data").unwrap().to_owned()
}
