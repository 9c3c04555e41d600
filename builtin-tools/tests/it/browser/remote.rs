//! A browser that runs already, by its debugging URL.

use super::guard::Private;
use super::site::{html, serve};
use super::{act, allow, deny, error, page, picture, text};
use crate::commands::house::House;
use serde_json::{Value, json};
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;
use toolkit::ToolErrorKind;
use toolkit_loopback::{Answer, Loopback};

/// A Chromium with a debugging port, as a person starts it. It has a tab of its own.
struct Started {
    child: Child,
    /// `ws://127.0.0.1:PORT/devtools/browser/ID`.
    socket: String,
    _data: TempDir,
}

impl Started {
    fn new() -> Self {
        let data = tempfile::tempdir().unwrap();
        let mut child = Command::new("chromium")
            .args([
                "--headless=new",
                "--no-sandbox",
                "--remote-debugging-port=0",
                "--no-first-run",
                "--disable-dev-shm-usage",
            ])
            .arg(format!("--user-data-dir={}", data.path().display()))
            .arg("data:text/html,<title>Mine</title>")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        let socket =
            lines.find_map(|line| line.strip_prefix("DevTools listening on ").map(str::to_owned)).unwrap();
        // Its further output is read, so that it does not wait.
        std::thread::spawn(move || lines.count());
        Self { child, socket, _data: data }
    }

    /// `http://127.0.0.1:PORT`.
    fn url(&self) -> String {
        let rest = self.socket.strip_prefix("ws://").unwrap();
        format!("http://{}", rest.split('/').next().unwrap())
    }

    /// The addresses of its pages, as it says itself.
    async fn pages(&self) -> Vec<String> {
        let house = House::new(json!({ "tools": { "web": { "network": { "allowedRanges": ["127.0.0.0/8"] }, "fetch": { "cacheMinutes": 0 } } } })).await;
        let got = house.call("web_fetch", json!({ "url": format!("{}/json/list", self.url()) })).await;
        let list: Value = serde_json::from_str(page(&got.text())).unwrap();
        let pages = list.as_array().unwrap().iter().filter(|page| page["type"] == "page");
        pages.map(|page| page["url"].as_str().unwrap().to_owned()).collect()
    }
}

/// Waits until a browser has so many pages of a site.
async fn until_pages(started: &Started, site: &Loopback, count: usize, what: &str) {
    let mut pages = Vec::new();
    for _ in 0..1000 {
        pages = started.pages().await;
        if pages.iter().filter(|page| page.starts_with(site.url())).count() == count {
            assert!(pages.iter().any(|page| page.contains("Mine")), "the tab of the person stays: {pages:?}");
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("{what}: {pages:?}");
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[expect(clippy::needless_pass_by_value, reason = "each caller makes it in place")]
fn config(browser: Value) -> Value {
    json!({ "tools": { "web": { "network": { "allowedRanges": ["127.0.0.1/32"] } }, "browser": browser } })
}

async fn site() -> Loopback {
    serve(|request| match request.path.as_str() {
        "/file" => Answer::bytes(200, "a,b\n").with_header("content-disposition", "attachment; filename=a.csv"),
        _ => html("<!doctype html><title>Site</title><input aria-label=Name><button onclick=\"document.title = 'Hello ' + document.querySelector('input').value\">Go</button>\
                   <a id=file href=/file>File</a>"),
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium: cargo xtask test"]
async fn a_browser_that_runs_is_used_once_a_person_agreed() {
    let (started, server) = (Started::new(), site().await);
    for debugging in [started.url(), started.socket.clone()] {
        let house = House::with(config(json!({ "debuggingUrl": debugging })), allow).await;
        text(&house, "navigate", json!({ "url": server.url() })).await;
        let asked = house.asked();
        assert_eq!(asked.len(), 1, "{asked:?}");
        let question = asked[0].to_text();
        let shown =
            if debugging.starts_with("ws") { started.url().replace("http", "ws") } else { started.url() };
        assert!(question.contains(&format!("Connect to the browser at {shown} ")), "{question}");
        assert!(question.contains("The browser's own requests are not checked"), "{question}");
        text(&house, "type", json!({ "selector": "input", "text": "Ada" })).await;
        let said = text(&house, "click", json!({ "selector": "button" })).await;
        assert!(page(&said).contains("Title: Hello Ada"), "{said}");
        let shot = act(&house, "screenshot", json!({})).await;
        assert_eq!(super::size(&picture(&shot)), (1280, 800));
        let said = text(&house, "click", json!({ "selector": "#file" })).await;
        assert!(page(&said).contains("a.csv (4 bytes) was saved as downloads/a.csv"), "{said}");
        assert_eq!(fs::read_to_string(house.path("downloads/a.csv")).unwrap(), "a,b\n");
        // Tabs of the person are neither shown nor touched.
        let tabs = text(&house, "tabs", json!({})).await;
        assert!(tabs.starts_with("1 tab is open.") && !tabs.contains("Mine"), "{tabs}");
        until_pages(&started, &server, 1, "the page is open").await;
        text(&house, "close", json!({})).await;
        until_pages(&started, &server, 0, "the context is gone, the browser is not").await;
    }
    let house = House::with(config(json!({ "debuggingUrl": started.url() })), allow).await;
    text(&house, "navigate", json!({ "url": server.url() })).await;
    drop(house);
    until_pages(&started, &server, 0, "the end of the session ends the context as well").await;
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium: cargo xtask test"]
async fn its_pages_are_behind_the_guard() {
    let (started, private) = (Started::new(), Private::at("127.0.0.2:0").await);
    let host = private.url("").trim_start_matches("http://").to_owned();
    let server = serve({
        let host = host.clone();
        move |_| html(&super::guard::tries(&host))
    })
    .await;
    let house = House::with(config(json!({ "debuggingUrl": started.url() })), allow).await;
    text(&house, "navigate", json!({ "url": server.url() })).await;
    text(&house, "evaluate", json!({ "script": "await Promise.all(done)", "timeout_ms": 20_000 })).await;
    let direct = error(&house, "navigate", json!({ "url": private.url("/direct") })).await;
    assert_eq!(direct.kind(), ToolErrorKind::Denied, "{direct}");
    assert_eq!(private.seen(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium: cargo xtask test"]
async fn without_the_proxy_named_and_shown_addresses_are_checked() {
    let (started, private) = (Started::new(), Private::at("127.0.0.2:0").await);
    let to = private.url("/private");
    let server = serve(move |request| match request.path.as_str() {
        "/away" => Answer::bytes(302, "").with_header("location", &to),
        _ => html("<title>Site</title><a href=/away>Away</a><input type=file>"),
    })
    .await;
    let own = json!({ "debuggingUrl": started.url(), "debuggingWithoutProxy": true });
    let house = House::with(config(own), allow).await;
    text(&house, "navigate", json!({ "url": server.url() })).await;
    let question = house.asked()[0].to_text();
    assert!(question.contains("The traffic of its pages is not checked"), "{question}");
    let direct = error(&house, "navigate", json!({ "url": private.url("/direct") })).await;
    assert_eq!(direct.kind(), ToolErrorKind::Denied, "{direct}");
    let away = error(&house, "click", json!({ "selector": "a" })).await;
    assert!(away.kind() == ToolErrorKind::Denied && away.message().contains("and is empty now"), "{away}");
    let failed = error(&house, "snapshot", json!({})).await;
    assert!(failed.message().contains("no page is open"), "{failed}");
    text(&house, "navigate", json!({ "url": server.url() })).await;
    let failed = error(&house, "upload", json!({ "selector": "input", "files": ["a.txt"] })).await;
    assert!(failed.message().contains("files cannot be given"), "{failed}");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium: cargo xtask test"]
async fn a_browser_that_ends_is_told() {
    let (mut started, server) = (Started::new(), site().await);
    let house = House::with(config(json!({ "debuggingUrl": started.url() })), allow).await;
    text(&house, "navigate", json!({ "url": server.url() })).await;
    started.child.kill().unwrap();
    started.child.wait().unwrap();
    let mut failed = error(&house, "snapshot", json!({})).await;
    if !failed.message().contains("no page is open") {
        assert!(failed.message().contains("the browser is gone"), "{failed}");
        failed = error(&house, "snapshot", json!({})).await;
    }
    assert!(failed.message().contains("no page is open"), "{failed}");
    let failed = error(&house, "navigate", json!({ "url": server.url() })).await;
    assert!(
        failed.message().contains(&format!("the browser at {} cannot be used: ", started.url())),
        "{failed}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_used_is_told() {
    let other = Loopback::start(|_| Answer::bytes(200, "{}")).await;
    for (url, expected) in [
        ("127.0.0.1:9222", "it is not a URL"),
        ("https://a.test:9222", "neither http nor ws"),
        ("wss://a.test:9222/?token=secret", "neither http nor ws"),
        ("http://user:secret@127.0.0.1:9222", "not an address with a host and a port"),
        ("http://127.0.0.1:1/?token=secret", "not an address"),
        ("http://127.0.0.1:2/?token=secret", "the browser at http://127.0.0.1:2 cannot be used: "),
        ("ws://127.0.0.1:2/?token=secret", "the browser at ws://127.0.0.1:2 cannot be used: "),
        (other.url(), "it is not the debugging port of a browser (status 200)"),
        (&other.url().replace("http", "ws"), "it refused the connection with status 200"),
    ] {
        let house = House::with(config(json!({ "debuggingUrl": url })), allow).await;
        let failed = error(&house, "navigate", json!({ "url": "http://127.0.0.1:8099/" })).await;
        assert_eq!(failed.kind(), ToolErrorKind::Unavailable, "{url}: {failed}");
        assert!(
            failed.message().contains(expected) && !failed.message().contains("secret"),
            "{url}: {failed}"
        );
    }
    let seen = other.requests().len();
    let house = House::with(config(json!({ "debuggingUrl": other.url() })), deny).await;
    let failed = error(&house, "navigate", json!({ "url": "http://127.0.0.1:8099/" })).await;
    assert!(failed.kind() == ToolErrorKind::Denied && failed.message().contains("not today"), "{failed}");
    assert_eq!(other.requests().len(), seen, "nothing is asked of it before a person agreed");
}

#[tokio::test(flavor = "multi_thread")]
async fn its_state_is_told() {
    let other = Loopback::start(|_| Answer::bytes(200, "{}")).await;
    for (url, is_missing) in [(other.url(), false), ("http://127.0.0.1:2", true)] {
        let house = House::with(config(json!({ "debuggingUrl": url })), allow).await;
        let context = house.toolbox.context("browser").unwrap();
        let state = builtin_tools::browser::browser_state(&context).unwrap();
        assert_eq!(state.remote.as_deref(), Some(url));
        assert_eq!(state.missing.is_some(), is_missing, "{state:?}");
    }
}
