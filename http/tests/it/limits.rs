//! Limits, and what is sent.

use super::server::{Server, client, ok, response};
use std::time::Duration;
use toolkit_http::http::header::{ACCEPT, HeaderValue};
use toolkit_http::{Limits, Request};

#[tokio::test]
async fn what_is_sent() {
    let server = Server::start(|_| ok("")).await;
    let request = Request::get(server.url("/path?q=a%20b#part"))
        .with_header(ACCEPT, HeaderValue::from_static("text/plain"));
    client(&["127.0.0.1/32"], Limits::default()).send(request).await.unwrap();
    let sent = server.requests().remove(0);
    let lines: Vec<&str> = sent.trim_end().split("\r\n").collect();
    assert_eq!(lines[0], "GET /path?q=a%20b HTTP/1.1");
    for line in [
        &*format!("host: 127.0.0.1:{}", server.port()),
        concat!("user-agent: toolkit/", env!("CARGO_PKG_VERSION")),
        "accept: text/plain",
        "accept-encoding: gzip, deflate",
        "connection: close",
    ] {
        assert!(lines.contains(&line), "{line} is not in {lines:?}");
    }
    assert_eq!(lines.len(), 6, "{lines:?}");
}

#[tokio::test]
async fn a_body_of_the_limit_is_taken() {
    let server = Server::start(|_| ok(&"x".repeat(1000))).await;
    for (limit, is_taken) in [(1000, true), (999, false)] {
        let limits = Limits::default().with_body_bytes(limit);
        let got = client(&["127.0.0.1/32"], limits).send(Request::get(server.url("/"))).await;
        assert_eq!(got.is_ok(), is_taken, "{limit}");
    }
}

#[tokio::test]
async fn an_error_page_is_a_response() {
    let server = Server::start(|_| response("503 Unavailable", &[("Retry-After", "7")], "busy")).await;
    let got = client(&["127.0.0.1/32"], Limits::default()).send(Request::get(server.url("/"))).await.unwrap();
    assert_eq!((got.status.as_u16(), &*got.body), (503, &b"busy"[..]));
    assert_eq!(toolkit_http::retry_after(&got.headers), Some(Duration::from_secs(7)));
}

#[test]
fn parts_are_within_the_total() {
    let limits = Limits::default().with_total(Duration::from_secs(3));
    assert!([limits.connect, limits.first_byte, limits.idle].iter().all(|part| *part <= limits.total));
}
