//! The forward proxy: what it forwards, what it refuses, and how a client that misbehaves is bounded.

use super::server::{Server, Step, ok, response, send, settings};
use data_encoding::BASE64;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use toolkit_http::{ConnectError, ForwardLimits, ForwardProxy, Guard, GuardSettings, Refused};

const LOOPBACK: &[&str] = &["127.0.0.0/8", "::1/128"];

async fn proxy(settings: GuardSettings) -> ForwardProxy {
    limited(settings, ForwardLimits::default()).await
}

async fn limited(settings: GuardSettings, limits: ForwardLimits) -> ForwardProxy {
    let explain = |error: &ConnectError| match error {
        ConnectError::Refused(Refused::NotPublic { .. }) => "; the key is `the.key`".to_owned(),
        _ => String::new(),
    };
    ForwardProxy::start(Guard::new(settings), limits, explain).await.unwrap()
}

fn credential(proxy: &ForwardProxy) -> String {
    let pair = BASE64.encode(format!("{}:{}", proxy.user(), proxy.password()).as_bytes());
    format!("Proxy-Authorization: Basic {pair}\r\n")
}

async fn connected(proxy: &ForwardProxy) -> TcpStream {
    TcpStream::connect(proxy.address()).await.unwrap()
}

/// Sends a request without a body, and reads all that comes back.
async fn asked(proxy: &ForwardProxy, line: &str, headers: &str) -> String {
    let mut stream = connected(proxy).await;
    let request = format!("{line} HTTP/1.1\r\nHost: ignored.test\r\n{headers}Connection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer).await;
    String::from_utf8_lossy(&answer).into_owned()
}

/// Sends a request of a client that knows the password, and reads the head of the answer.
pub(super) async fn asked_of(proxy: &ForwardProxy, line: &str) -> String {
    let mut stream = connected(proxy).await;
    let request =
        format!("{line} HTTP/1.1\r\nHost: a.test\r\n{}Connection: close\r\n\r\n", credential(proxy));
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        answer.push(stream.read_u8().await.unwrap());
    }
    String::from_utf8_lossy(&answer).into_owned()
}

async fn get(proxy: &ForwardProxy, url: &str) -> String {
    asked(proxy, &format!("GET {url}"), &credential(proxy)).await
}

#[tokio::test]
async fn a_request_is_forwarded_as_one_to_the_server() {
    let server =
        Server::start(|_| response("201 Created", &[("X-Own", "1"), ("Keep-Alive", "5")], "body")).await;
    let proxy = proxy(settings(LOOPBACK)).await;
    let headers = format!(
        "{}Proxy-Connection: keep-alive\r\nX-Hop: 1\r\nTE: trailers\r\nX-Kept: 2\r\n",
        credential(&proxy)
    );
    let answer = asked(&proxy, &format!("GET {}", server.url("/path?q=1")), &headers).await;
    assert!(answer.starts_with("HTTP/1.1 201 Created\r\n") && answer.ends_with("\r\n\r\nbody"), "{answer}");
    assert!(answer.contains("x-own: 1\r\n") && !answer.contains("keep-alive"), "{answer}");
    let request = server.requests().remove(0).to_lowercase();
    assert!(request.starts_with("get /path?q=1 http/1.1\r\n"), "{request}");
    assert!(request.contains(&format!("host: 127.0.0.1:{}\r\n", server.port())), "{request}");
    assert!(request.contains("x-kept: 2"), "{request}");
    for gone in ["proxy-", "te: ", "ignored.test"] {
        assert!(!request.contains(gone), "{gone}: {request}");
    }
    assert_eq!(proxy.take_refusals(), []);
}

#[tokio::test]
async fn a_body_and_an_endless_answer_are_streamed() {
    let server = Server::start(|_| {
        vec![
            send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"),
            Step::Forever(b"data: x\n\n".to_vec()),
        ]
    })
    .await;
    let proxy = proxy(settings(LOOPBACK)).await;
    let mut stream = connected(&proxy).await;
    let (url, credential) = (server.url("/events"), credential(&proxy));
    let request = format!("POST {url} HTTP/1.1\r\nHost: a\r\n{credential}Content-Length: 3\r\n\r\nabc");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = vec![0; 200_000];
    stream.read_exact(&mut answer).await.unwrap();
    assert!(answer.starts_with(b"HTTP/1.1 200 OK"));
    assert!(server.requests()[0].to_lowercase().contains("content-length: 3"));
}

#[tokio::test]
async fn a_tunnel_carries_any_protocol() {
    let server = Server::start(|_| {
        vec![send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\nframes"), Step::Hang]
    })
    .await;
    let proxy = proxy(settings(LOOPBACK)).await;
    let mut stream = connected(&proxy).await;
    let connect = format!("CONNECT 127.0.0.1:{} HTTP/1.1\r\n{}\r\n", server.port(), credential(&proxy));
    stream.write_all(connect.as_bytes()).await.unwrap();
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(stream.read_u8().await.unwrap());
    }
    assert!(head.starts_with(b"HTTP/1.1 200 "), "{}", String::from_utf8_lossy(&head));
    stream.write_all(b"GET /socket HTTP/1.1\r\nUpgrade: websocket\r\n\r\n").await.unwrap();
    let mut frames = vec![0; 70];
    let expected = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\nframes";
    stream.read_exact(&mut frames[..expected.len()]).await.unwrap();
    assert_eq!(&frames[..expected.len()], expected.as_bytes());
    assert!(server.requests()[0].starts_with("GET /socket"));
    drop(proxy);
    assert_eq!(stream.read(&mut frames).await.unwrap_or(0), 0, "the tunnel ends with the proxy");
}

#[tokio::test]
async fn a_private_target_is_refused_in_both_forms_and_sees_nothing() {
    let server = Server::start(|_| ok("secret")).await;
    let proxy = proxy(GuardSettings::default()).await;
    let port = server.port();
    for host in ["127.0.0.1", "localhost", "0x7f.1", "2130706433", "[::1]", "[::ffff:127.0.0.1]", "127.1"] {
        for (line, target) in [
            (format!("GET http://{host}:{port}/a?token=x"), format!("http://{host}:{port}/a")),
            (format!("CONNECT {host}:{port}"), format!("{host}:{port}")),
        ] {
            let answer = asked(&proxy, &line, &credential(&proxy)).await;
            assert!(answer.starts_with("HTTP/1.1 403 Forbidden\r\n"), "{line}: {answer}");
            assert!(
                answer.contains("loopback") && answer.contains("the key is `the.key`"),
                "{line}: {answer}"
            );
            let refusal = proxy.take_refusals().remove(0);
            assert!(refusal.by_rule && refusal.target == target, "{refusal:?}");
            assert!(answer.ends_with(&refusal.reason), "{answer}");
        }
    }
    assert_eq!(server.requests(), Vec::<String>::new());
}

#[tokio::test]
async fn domain_rules_hold() {
    let server = Server::start(|_| ok("there")).await;
    let mut own = settings(LOOPBACK);
    own.blocked_domains = vec!["blocked.localhost".parse().unwrap()];
    own.allowed_domains = Some(vec!["localhost".parse().unwrap()]);
    let proxy = proxy(own).await;
    let port = server.port();
    assert!(get(&proxy, &format!("http://localhost:{port}/")).await.ends_with("there"));
    let answer = get(&proxy, &format!("http://blocked.localhost:{port}/")).await;
    assert!(
        answer.contains("403") && answer.contains("the domain is blocked (rule `blocked.localhost`)"),
        "{answer}"
    );
    let answer = asked(&proxy, &format!("CONNECT 127.0.0.1:{port}"), &credential(&proxy)).await;
    assert!(answer.contains("403") && answer.contains("not among the allowed domains"), "{answer}");
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_client_without_the_password_gets_nothing() {
    let server = Server::start(|_| ok("there")).await;
    let proxy = proxy(settings(LOOPBACK)).await;
    let other = self::proxy(settings(LOOPBACK)).await;
    assert_ne!(proxy.password(), other.password());
    for headers in [String::new(), "Proxy-Authorization: Basic eDp4\r\n".to_owned(), credential(&other)] {
        for line in [format!("GET {}", server.url("/")), format!("CONNECT 127.0.0.1:{}", server.port())] {
            let answer = asked(&proxy, &line, &headers).await;
            assert!(answer.starts_with("HTTP/1.1 407 "), "{answer}");
            assert!(answer.contains("proxy-authenticate: Basic realm="), "{answer}");
        }
    }
    assert_eq!(server.requests(), Vec::<String>::new());
    assert!(!format!("{proxy:?}").contains(proxy.password()));
}

#[tokio::test]
async fn other_requests_are_told_what_is_wrong() {
    let proxy = proxy(settings(LOOPBACK)).await;
    for (line, status, reason) in [
        ("GET /", "400", "request whole URLs"),
        ("GET ftp://127.0.0.1/", "400", "takes http URLs"),
        ("GET https://127.0.0.1/", "400", "takes http URLs"),
        ("GET http://user:pass@127.0.0.1/", "403", "with a user name or password"),
        ("GET http://127.0.0.1:22/", "403", "port 22 is refused"),
        ("CONNECT 127.0.0.1:25", "403", "port 25 is refused"),
        ("CONNECT 127.0.0.1", "400", "not a host with a port"),
        ("GET http://169.254.169.254/latest", "403", "metadata service"),
        ("GET http://127.0.0.1:1/", "403", "port 1 is refused"),
        ("GET http://no-such-name.invalid/", "502", "could not be resolved"),
    ] {
        let answer = asked(&proxy, line, &credential(&proxy)).await;
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status} ")) && answer.contains(reason),
            "{line}: {answer}"
        );
    }
}

#[tokio::test]
async fn a_server_that_cannot_be_understood_is_an_error() {
    let proxy = proxy(settings(LOOPBACK)).await;
    let server = Server::start(|_| vec![send("not HTTP\r\n\r\n")]).await;
    let answer = get(&proxy, &server.url("/")).await;
    assert!(answer.starts_with("HTTP/1.1 502 ") && answer.contains("cannot be read"), "{answer}");
    let server =
        Server::start(|_| vec![send("HTTP/1.1 200 OK\r\n"), Step::Forever(b"X-A: aaaaaaaa\r\n".to_vec())])
            .await;
    let answer = get(&proxy, &server.url("/")).await;
    assert!(answer.starts_with("HTTP/1.1 502 "), "{answer}");
    assert!(proxy.take_refusals().iter().all(|refusal| !refusal.by_rule));
}

#[tokio::test]
async fn a_flood_of_headers_is_bounded() {
    let proxy = proxy(settings(LOOPBACK)).await;
    let mut stream = connected(&proxy).await;
    stream.write_all(b"GET http://127.0.0.1/ HTTP/1.1\r\n").await.unwrap();
    let line = format!("X-Flood: {}\r\n", "a".repeat(1000));
    let mut sent = 0;
    // The proxy answers or closes long before the end.
    while sent < 64 << 20 {
        match stream.write_all(line.as_bytes()).await {
            Ok(()) => sent += line.len(),
            Err(_) => break,
        }
    }
    assert!(sent < 64 << 20, "the proxy read {sent} bytes of headers");
}

#[tokio::test]
async fn a_slow_client_is_disconnected_and_gives_its_place_back() {
    let server = Server::start(|_| ok("there")).await;
    let mut limits = ForwardLimits::default();
    limits.connections = 1;
    limits.request_head = Duration::from_millis(50);
    let proxy = limited(settings(LOOPBACK), limits).await;
    let mut slow = connected(&proxy).await;
    slow.write_all(b"GET http://127.0.0.1/ HTT").await.unwrap();
    // It has to wait for the only place.
    assert!(get(&proxy, &server.url("/")).await.ends_with("there"));
    let mut rest = Vec::new();
    let _ = slow.read_to_end(&mut rest).await;
    assert!(rest.is_empty() || rest.starts_with(b"HTTP/1.1 4"), "{}", String::from_utf8_lossy(&rest));
}

#[tokio::test]
async fn refusals_are_bounded() {
    let proxy = proxy(GuardSettings::default()).await;
    for number in 0..110 {
        asked(&proxy, &format!("CONNECT 10.0.0.1:{}", 8000 + number), &credential(&proxy)).await;
    }
    let refusals = proxy.take_refusals();
    assert_eq!(refusals.len(), 100);
    assert_eq!(refusals[99].target, "10.0.0.1:8109");
}
