//! Permission prompts of the browser.

use super::site::{html, serve};
use super::{allow, deny, error, house_with, page, text};
use crate::commands::house::House;
use serde_json::json;
use toolkit::ToolErrorKind;
use toolkit_http::{Resolver, Resolving};
use toolkit_loopback::Loopback;

/// Leads every name to loopback, as a resolver of a company does.
struct Everywhere;

impl Resolver for Everywhere {
    fn resolve<'a>(&'a self, _: &'a str, port: u16) -> Resolving<'a> {
        Box::pin(async move { Ok(vec![([127, 0, 0, 1], port).into()]) })
    }
}

async fn server() -> Loopback {
    serve(|_| html("<title>Site</title><p>Hello")).await
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium: cargo xtask test"]
async fn a_site_is_asked_for_once() {
    let server = server().await;
    let port = server.url().rsplit(':').next().unwrap().to_owned();
    // The name is not in the configuration; its address is.
    let house = house_with(&json!({}), allow).await;
    let url = format!("http://localhost:{port}/one");
    text(&house, "navigate", json!({ "url": url })).await;
    let asked = house.asked();
    assert_eq!(asked.len(), 1);
    assert!(asked[0].to_text().contains(&format!("Open {url} in the browser")), "{}", asked[0].to_text());
    text(&house, "navigate", json!({ "url": format!("http://localhost:{port}/two") })).await;
    assert_eq!(house.asked().len(), 0, "the page could go there by itself");
    text(&house, "close", json!({})).await;
    text(&house, "navigate", json!({ "url": url })).await;
    assert_eq!(house.asked().len(), 1, "the next browser is another one");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_denied_starts_no_browser() {
    let server = server().await;
    let port = server.url().rsplit(':').next().unwrap().to_owned();
    let house = house_with(&json!({ "executable": "/no/such/browser" }), deny).await;
    for (url, kind, expected) in [
        (format!("http://localhost:{port}/"), ToolErrorKind::Denied, "not today"),
        (
            "http://10.0.0.1/".to_owned(),
            ToolErrorKind::Denied,
            "tools.web.network.allowedRanges: [\"10.0.0.0/8\"]",
        ),
        ("http://169.254.169.254/".to_owned(), ToolErrorKind::Denied, "metadata service"),
        ("file:///etc/passwd".to_owned(), ToolErrorKind::InvalidArguments, "use http or https"),
        ("javascript:alert(1)".to_owned(), ToolErrorKind::InvalidArguments, "use http or https"),
        ("chrome://version".to_owned(), ToolErrorKind::InvalidArguments, "use http or https"),
        ("example.com".to_owned(), ToolErrorKind::InvalidArguments, "https://example.com/page"),
    ] {
        let failed = error(&house, "navigate", json!({ "url": url })).await;
        assert!(failed.kind() == kind && failed.message().contains(expected), "{url}: {failed}");
    }
    assert_eq!(server.requests().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn domain_rules_of_both_sections_count() {
    let config = |browser: serde_json::Value, fetch: serde_json::Value| json!({ "tools": { "browser": browser, "web": { "fetch": fetch } } });
    let nowhere = "/no/such/browser";
    for (browser, fetch, url, expected) in [
        (
            json!({ "blockedDomains": ["a.test"] }),
            json!({}),
            "https://www.a.test/",
            "tools.browser.blockedDomains",
        ),
        (json!({}), json!({ "blockedDomains": ["a.test"] }), "https://a.test/", "the domain is blocked"),
        (
            json!({ "allowedDomains": ["b.test"] }),
            json!({}),
            "https://a.test/",
            "tools.browser.allowedDomains",
        ),
        (
            json!({}),
            json!({ "allowedDomains": ["b.test"] }),
            "https://a.test/",
            "not among the allowed domains",
        ),
        (
            json!({ "allowedDomains": ["a.test"] }),
            json!({ "allowedDomains": ["b.test"] }),
            "https://b.test/",
            "not among",
        ),
        (json!({ "allowedDomains": ["a.test"] }), json!({}), "https://a.test/", "tools.browser.executable"),
        (
            json!({ "blockedDomains": ["https://a.test/"] }),
            json!({}),
            "https://b.test/",
            "`tools.browser.blockedDomains`: ",
        ),
    ] {
        let mut own = browser.clone();
        own["executable"] = nowhere.into();
        let house = House::with(config(own, fetch), deny).await;
        let failed = error(&house, "navigate", json!({ "url": url })).await;
        assert!(failed.message().contains(expected), "{browser} {url}: {failed}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn arguments_that_are_missing_are_named() {
    let house = house_with(&json!({ "executable": "/no/such/browser" }), allow).await;
    for (action, arguments, expected) in [
        ("navigate", json!({}), "`navigate` needs `url`"),
        ("click", json!({}), "`click` needs an element: `ref` from a `snapshot`, or `selector`"),
        (
            "click",
            json!({ "ref": "e1", "selector": "a" }),
            "`ref` and `selector` name one element; give one of them",
        ),
        ("type", json!({ "selector": "a" }), "`type` needs `text`"),
        ("press", json!({}), "`press` needs `key`"),
        ("select", json!({ "ref": "e1" }), "`select` needs `values`"),
        ("drag", json!({ "ref": "e1" }), "`drag` needs where to drag to"),
        ("upload", json!({ "ref": "e1" }), "`upload` needs `files`"),
        ("evaluate", json!({}), "`evaluate` needs `script`"),
        ("click", json!({ "ref": "e1" }), "no page is open: call `navigate` with a `url` first"),
        ("tabs", json!({}), "no page is open"),
    ] {
        let failed = error(&house, action, arguments).await;
        assert!(
            failed.kind() == ToolErrorKind::InvalidArguments && failed.message().contains(expected),
            "{action}: {failed}"
        );
    }
    // The arguments are flat, as models know them.
    let result = house.call("browser", json!({ "action": "fly" })).await;
    assert!(result.is_error() && result.text().contains("/action"), "{}", result.text());
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Chromium: cargo xtask test"]
async fn what_a_page_loads_is_checked_by_name_too() {
    let server = serve(|request| {
        let port = request.header("host").unwrap().rsplit(':').next().unwrap();
        html(&format!("<title>Page</title><script src=http://tracker.test:{port}/a.js></script><p>Hello"))
    })
    .await;
    let port = server.url().rsplit(':').next().unwrap().to_owned();
    let house = House::made_with_resolver(
        json!({ "tools": {
            "web": { "network": { "allowedRanges": ["127.0.0.0/8"] } },
            "browser": { "allowedDomains": ["shop.test"] },
        } }),
        Everywhere,
    )
    .await;
    let said = text(&house, "navigate", json!({ "url": format!("http://shop.test:{port}/") })).await;
    assert!(page(&said).contains("Refused: http://tracker.test:"), "{said}");
    assert!(page(&said).contains("tools.browser.allowedDomains"), "{said}");
    assert_eq!(house.asked().len(), 0, "the configuration names the site");
    assert_eq!(super::site::paths(&server), ["/"]);
}
