//! `web_fetch`: what fails, and what is said of it.

use super::{LOOPBACK, error, toolkit};
use serde_json::json;
use toolkit::{ToolErrorKind, output::Retry};
use toolkit_loopback::{Answer, Loopback};

#[tokio::test]
async fn statuses() {
    let toolkit = toolkit(&[LOOPBACK]);
    for (status, kind, part) in [
        (404, ToolErrorKind::NotFound, "HTTP status 404 (Not Found); check the address"),
        (410, ToolErrorKind::NotFound, "HTTP status 410"),
        (403, ToolErrorKind::Failed, "requires a sign-in, or blocks automated readers"),
        (429, ToolErrorKind::Unavailable, "too many requests"),
        (500, ToolErrorKind::Unavailable, "try again later"),
        (503, ToolErrorKind::Unavailable, "try again later"),
        (304, ToolErrorKind::Failed, "HTTP status 304"),
    ] {
        let server = Loopback::start(move |_| {
            Answer::bytes(status, "<p>The page says why.</p>").with_header("content-type", "text/html")
        })
        .await;
        let told = error(&toolkit, "web_fetch", json!({ "url": server.url() })).await;
        assert_eq!(told.kind(), kind, "{told}");
        assert!(told.message().contains(part), "{told}");
        let has_page =
            told.message().contains("<untrusted-content-") && told.message().contains("The page says why.");
        assert_eq!(has_page, status != 304, "{told}");
    }
}

#[tokio::test]
async fn a_page_of_an_error_is_cut() {
    let server = Loopback::start(|_| {
        Answer::bytes(404, "word ".repeat(10_000)).with_header("content-type", "text/plain")
    })
    .await;
    let told = error(&toolkit(&[LOOPBACK]), "web_fetch", json!({ "url": server.url() })).await;
    let length = told.message().chars().count();
    assert!((4_000..5_000).contains(&length), "{length}");
}

#[tokio::test]
async fn how_long_to_wait_is_told() {
    let server = Loopback::start(|_| Answer::bytes(503, "").with_header("retry-after", "120")).await;
    let told = error(&toolkit(&[LOOPBACK]), "web_fetch", json!({ "url": server.url() })).await;
    assert_eq!(told.retry(), Retry::After(std::time::Duration::from_mins(2)));
}

#[tokio::test]
async fn arguments_that_are_no_address() {
    let toolkit = toolkit(&[LOOPBACK]);
    for (url, part) in [
        ("example.com", "no scheme"),
        ("ftp://example.com/", "scheme `ftp`"),
        ("https://user:secret@example.com/", "user name"),
        ("file:///etc/passwd", "scheme `file`"),
    ] {
        let told = error(&toolkit, "web_fetch", json!({ "url": url })).await;
        assert_eq!(told.kind(), ToolErrorKind::InvalidArguments, "{told}");
        assert!(told.message().contains(part) && !told.message().contains("secret"), "{told}");
    }
}

#[tokio::test]
async fn what_cannot_be_shown() {
    let toolkit = toolkit(&[LOOPBACK, "tools.web.fetch.maxBytes=5000000"]);
    for (media_type, body, part) in [
        ("application/zip", b"PK\x03\x04".to_vec(), "cannot be shown: 4 bytes of the type application/zip"),
        (
            "image/png",
            [b"\x89PNG\r\n\x1a\n".to_vec(), vec![0; 4_000_000]].concat(),
            "the picture is too large",
        ),
        ("text/plain", vec![b'x'; 6_000_000], "`tools.web.fetch.maxBytes`"),
    ] {
        let server = Loopback::start(move |_| {
            Answer::bytes(200, body.clone()).with_header("content-type", media_type)
        })
        .await;
        let told = error(&toolkit, "web_fetch", json!({ "url": server.url() })).await;
        assert!(told.message().contains(part), "{told}");
    }
}

#[tokio::test]
async fn nobody_there_and_nobody_answering() {
    let silent = Loopback::start(|_| Answer::Hang).await;
    let closing = Loopback::start(|_| Answer::Close).await;
    let toolkit = toolkit(&[LOOPBACK, "tools.web.fetch.timeoutSeconds=1"]);
    for (url, kind, part) in [
        (silent.url(), ToolErrorKind::TimedOut, "within 1s"),
        (closing.url(), ToolErrorKind::Failed, "incomplete"),
        ("http://127.0.0.1:2/", ToolErrorKind::Unavailable, "the connection was refused"),
    ] {
        let told = error(&toolkit, "web_fetch", json!({ "url": url })).await;
        assert_eq!(told.kind(), kind, "{told}");
        assert!(told.message().contains(part), "{told}");
    }
}
