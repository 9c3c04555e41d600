//! Whom web tools reach, by what the servers saw.

use super::{LOOPBACK, call, error, text, toolkit};
use serde_json::json;
use toolkit::ToolErrorKind;
use toolkit_loopback::{Answer, Loopback};

#[tokio::test]
async fn loopback_is_refused_and_the_error_names_the_key_that_allows_it() {
    let server =
        Loopback::start(|_| Answer::bytes(200, "secret").with_header("content-type", "text/plain")).await;
    let shut = toolkit(&[]);
    let port = server.url().rsplit(':').next().unwrap();
    for host in ["127.0.0.1", "0x7f.1", "2130706433", "[::ffff:127.0.0.1]", "0177.0.0.1", "127.0.0.1."] {
        let told = error(&shut, "web_fetch", json!({ "url": format!("http://{host}:{port}/") })).await;
        assert_eq!(told.kind(), ToolErrorKind::Denied, "{told}");
        let message = told.message();
        assert!(message.contains("`tools.web.network.allowedRanges: [\"127.0.0.0/8\"]`"), "{message}");
        assert!(!message.contains("secret"), "{message}");
    }
    assert!(server.requests().is_empty());
    let open = toolkit(&[LOOPBACK]);
    let got = text(&open, "web_fetch", json!({ "url": server.url() })).await;
    assert!(got.contains("secret"), "{got}");
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_public_site_is_asked_about_unless_it_is_named() {
    let asked = toolkit(&[]);
    let told = error(&asked, "web_fetch", json!({ "url": "https://example.com/a" })).await;
    assert_eq!(told.kind(), ToolErrorKind::Denied, "{told}");
    assert!(told.message().contains("https://example.com/a"), "{told}");
    let denied = toolkit(&["tools.web.fetch.blockedDomains=['example.com']"]);
    let told = error(&denied, "web_fetch", json!({ "url": "https://www.example.com/a" })).await;
    assert!(told.message().contains("tools.web.fetch.blockedDomains"), "{told}");
    let others = toolkit(&["tools.web.fetch.allowedDomains=['example.org']"]);
    let told = error(&others, "web_fetch", json!({ "url": "https://example.com/a" })).await;
    assert!(told.message().contains("tools.web.fetch.allowedDomains"), "{told}");
}

#[tokio::test]
async fn a_name_that_leads_to_loopback_is_refused() {
    let server = Loopback::start(|_| Answer::bytes(200, "secret")).await;
    let toolkit = toolkit(&["permission.web_fetch=allow"]);
    let url = server.url().replace("127.0.0.1", "localhost");
    let told = error(&toolkit, "web_fetch", json!({ "url": url })).await;
    assert!(told.message().contains("does not lead to a public address"), "{told}");
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_redirect_into_a_private_network_is_refused() {
    let secret = Loopback::start(|_| Answer::bytes(200, "secret")).await;
    let port = secret.url().rsplit(':').next().unwrap().to_owned();
    let server = Loopback::start(move |_| {
        Answer::bytes(302, "").with_header("location", &format!("http://127.0.0.2:{port}/"))
    })
    .await;
    let toolkit = toolkit(&["tools.web.network.allowedRanges=['127.0.0.1']"]);
    let told = error(&toolkit, "web_fetch", json!({ "url": server.url() })).await;
    assert!(told.message().contains("redirects to a place that is not allowed"), "{told}");
    assert!(secret.requests().is_empty());
}

#[tokio::test]
async fn settings_that_cannot_be_read_allow_nothing() {
    for (setting, key) in [
        ("tools.web.network.allowedRanges=['10.0.0.1/8']", "tools.web.network.allowedRanges"),
        ("tools.web.fetch.blockedDomains=['https://example.com']", "tools.web.fetch.blockedDomains"),
        ("tools.web.fetch.allowedDomains=['a b']", "tools.web.fetch.allowedDomains"),
        ("tools.web.network.proxy=http://[::", "tools.web.network.proxy"),
    ] {
        let told = error(&toolkit(&[setting]), "web_fetch", json!({ "url": "https://example.com/" })).await;
        assert_eq!(told.kind(), ToolErrorKind::Unavailable, "{setting}: {told}");
        assert!(told.message().contains(key), "{setting}: {told}");
    }
}

#[tokio::test]
async fn what_one_caller_may_reach_is_not_kept_for_another() {
    let server =
        Loopback::start(|_| Answer::bytes(200, "secret").with_header("content-type", "text/plain")).await;
    text(&toolkit(&[LOOPBACK]), "web_fetch", json!({ "url": server.url() })).await;
    let result =
        call(&toolkit(&["permission.web_fetch=allow"]), "web_fetch", json!({ "url": server.url() })).await;
    assert!(result.is_error() && !result.text().contains("secret"), "{}", result.text());
}

#[tokio::test]
async fn a_proxy_is_used_only_where_it_is_configured() {
    let proxy = Loopback::start(|_| Answer::bytes(403, "")).await;
    let server =
        Loopback::start(|_| Answer::bytes(200, "direct").with_header("content-type", "text/plain")).await;
    let direct = toolkit(&[LOOPBACK]);
    assert!(text(&direct, "web_fetch", json!({ "url": server.url() })).await.contains("direct"));
    let through = toolkit(&[LOOPBACK, &format!("tools.web.network.proxy={}", proxy.url())]);
    let told = error(&through, "web_fetch", json!({ "url": server.url() })).await;
    assert!(told.message().contains("the configured proxy failed"), "{told}");
    assert_eq!(server.requests().len(), 1);
}
