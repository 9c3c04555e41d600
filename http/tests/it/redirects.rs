//! Redirects: each is checked as the first URL is.

use super::server::{Server, client, ok, redirect, response};
use toolkit_http::http::header::{AUTHORIZATION, COOKIE, HeaderValue};
use toolkit_http::{FetchError, Limits, Request};

const LOOPBACK: &[&str] = &["127.0.0.1/32"];

#[tokio::test]
async fn a_redirect_to_a_private_address_is_not_followed() {
    let secret = Server::at("127.0.0.2".parse().unwrap(), 0, |_| ok("secret")).await;
    let port = secret.port();
    let targets = [
        format!("http://127.0.0.2:{port}/"),
        format!("//127.0.0.2:{port}/"),
        format!("\\\\127.0.0.2:{port}/"),
        format!("http://0x7f.0.0.2:{port}/"),
        format!("http://2130706434:{port}/"),
        format!("http://[::ffff:127.0.0.2]:{port}/"),
        format!("http:127.0.0.2:{port}/"),
        "http://169.254.169.254/latest/meta-data/".to_owned(),
        "http://[fd00:ec2::254]/".to_owned(),
        "http://metadata.google.internal/".to_owned(),
        "file:///etc/passwd".to_owned(),
        "ftp://127.0.0.2/".to_owned(),
        "javascript:alert(1)".to_owned(),
        format!("http://user@127.0.0.2:{port}/"),
        "http://127.0.0.2:22/".to_owned(),
    ];
    for (number, target) in targets.iter().enumerate() {
        for status in ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"] {
            let (target, to) = (target.clone(), target.clone());
            let server = Server::start(move |_| response(status, &[("Location", &to)], "")).await;
            let error =
                client(LOOPBACK, Limits::default()).send(Request::get(server.url("/"))).await.unwrap_err();
            // A relative one stays on the server, and goes in a loop.
            let is_relative = number == 6;
            assert!(
                matches!(error, FetchError::RedirectRefused { .. }) || is_relative,
                "{target} {status}: {error}"
            );
        }
    }
    assert_eq!(secret.requests(), Vec::<String>::new(), "nothing reached the server");
}

#[tokio::test]
async fn redirects_are_followed_and_told() {
    let server = Server::start(|request| match request.split(' ').nth(1) {
        Some("/1") => redirect("/2?a=b#part"),
        Some("/2?a=b") => redirect("3"),
        Some("/3") => ok("there"),
        _ => response("404 Not Found", &[], ""),
    })
    .await;
    let got = client(LOOPBACK, Limits::default()).send(Request::get(server.url("/1"))).await.unwrap();
    assert_eq!(got.body, b"there");
    assert_eq!(got.url.path(), "/3");
    assert_eq!(got.redirects.iter().map(|url| url.path().to_owned()).collect::<Vec<_>>(), ["/1", "/2"]);
}

#[tokio::test]
async fn too_many_and_loops() {
    let server = Server::start(|request| {
        let path = request.split(' ').nth(1).unwrap_or_default();
        match path.strip_prefix("/n").and_then(|number| number.parse::<u32>().ok()) {
            Some(0) => ok("end"),
            Some(number) => redirect(&format!("/n{}", number - 1)),
            None if path == "/self" => redirect("/self#again"),
            None if path == "/a" => redirect("/b"),
            None if path == "/b" => redirect("/a"),
            None => response("302 Found", &[], ""),
        }
    })
    .await;
    let client = client(LOOPBACK, Limits::default());
    assert_eq!(client.send(Request::get(server.url("/n5"))).await.unwrap().body, b"end");
    let error = client.send(Request::get(server.url("/n6"))).await.unwrap_err();
    assert!(matches!(error, FetchError::TooManyRedirects { limit: 5, .. }), "{error}");
    for path in ["/self", "/a"] {
        let error = client.send(Request::get(server.url(path))).await.unwrap_err();
        assert!(matches!(error, FetchError::RedirectLoop(_)), "{path}: {error}");
    }
    let error = client.send(Request::get(server.url("/none"))).await.unwrap_err();
    assert!(matches!(error, FetchError::RedirectNowhere { .. }), "{error}");
}

#[tokio::test]
async fn credentials_stay_with_their_origin() {
    let other = Server::start(|_| ok("other")).await;
    let to = other.url("/end");
    let server = Server::start(move |request| match request.split(' ').nth(1) {
        Some("/first") => response("302 Found", &[("Location", "/second"), ("Set-Cookie", "id=1")], ""),
        _ => redirect(&to),
    })
    .await;
    let request = Request::get(server.url("/first"))
        .with_credential(AUTHORIZATION, HeaderValue::from_static("Bearer secret"))
        .with_credential(COOKIE, HeaderValue::from_static("session=secret"));
    client(LOOPBACK, Limits::default()).send(request).await.unwrap();
    let (own, others) = (server.requests(), other.requests());
    assert!(own.len() == 2 && own.iter().all(|request| request.contains("Bearer secret")), "{own:?}");
    assert!(own.iter().all(|request| !request.contains("id=1")), "cookies are not kept: {own:?}");
    assert!(others.len() == 1 && !others[0].contains("secret"), "{others:?}");
}

#[tokio::test]
async fn a_post_is_not_sent_again() {
    let server = Server::start(|_| redirect("/elsewhere")).await;
    let got = client(LOOPBACK, Limits::default()).send(Request::post(server.url("/"), "body")).await.unwrap();
    assert_eq!((got.status.as_u16(), server.requests().len()), (302, 1));
}
