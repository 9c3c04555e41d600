//! Servers that mean harm or are broken: each is a clear error, within bounds.

use super::server::{Server, Step, client, ok, response, send};
use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use std::io::Write as _;
use std::time::Duration;
use toolkit_http::{FetchError, Limits, Phase, Request, Response};

const LOOPBACK: &[&str] = &["127.0.0.1/32"];

fn short() -> Limits {
    let mut limits = Limits::default().with_body_bytes(100_000);
    limits.first_byte = Duration::from_millis(1500);
    limits.idle = Duration::from_millis(1500);
    limits.total = Duration::from_secs(4);
    limits
}

async fn fetched(steps: Vec<Step>, limits: Limits) -> Result<Response, FetchError> {
    let server = Server::start(move |_| steps.clone()).await;
    client(LOOPBACK, limits).send(Request::get(server.url("/"))).await
}

async fn fault(steps: Vec<Step>) -> FetchError {
    // Whatever the server does, the limits of `short` end it.
    let fetched = tokio::time::timeout(Duration::from_mins(1), fetched(steps, short())).await;
    match fetched.expect("the total time is limited") {
        Err(error) => error,
        Ok(response) => panic!("it was taken: {response:?}"),
    }
}

fn timed_out(error: &FetchError) -> Option<Phase> {
    match error {
        FetchError::TimedOut { phase, .. } => Some(*phase),
        _ => None,
    }
}

#[tokio::test]
async fn slow_servers() {
    let head = || send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n");
    for (steps, phase) in [
        (vec![Step::Hang], Phase::FirstByte),
        (vec![send("HTTP/1.1 200 OK\r\nX: "), Step::Hang], Phase::FirstByte),
        (vec![head(), Step::Hang], Phase::Idle),
        (vec![head(), send("x"), Step::Hang], Phase::Idle),
        (
            std::iter::once(head())
                .chain((0..100).flat_map(|_| [send("x"), Step::Pause(Duration::from_millis(100))]))
                .collect(),
            Phase::Total,
        ),
    ] {
        let error = fault(steps.clone()).await;
        assert_eq!(timed_out(&error), Some(phase), "{error}: {:?}", &steps[..1]);
    }
}

#[tokio::test]
async fn endless_answers() {
    let chunk = || Step::Forever(format!("1000\r\n{}\r\n", "x".repeat(0x1000)).into_bytes());
    for steps in [
        vec![send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"), chunk()],
        vec![send("HTTP/1.1 200 OK\r\n\r\n"), Step::Forever(vec![b'x'; 4096])],
        vec![send("HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n"), Step::Forever(vec![b'x'; 4096])],
    ] {
        let error = fault(steps).await;
        assert!(matches!(error, FetchError::BodyTooLarge { limit: 100_000, compressed: false }), "{error}");
    }
}

#[tokio::test]
async fn endless_and_many_headers() {
    let many: Vec<String> = (0..250).map(|number| format!("X-{number}: y\r\n")).collect();
    let many = many.concat();
    for steps in [
        vec![send("HTTP/1.1 200 OK\r\n"), Step::Forever(b"X: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n".to_vec())],
        vec![send("HTTP/1.1 200 OK\r\nX: "), Step::Forever(vec![b'y'; 4096])],
        vec![Step::Forever(vec![b'H'; 4096])],
        vec![send(format!("HTTP/1.1 200 OK\r\n{many}\r\n"))],
        vec![send("HTTP/1.1 200 "), Step::Forever(vec![b'O'; 4096])],
    ] {
        let error = fault(steps).await;
        let is_told = matches!(error, FetchError::HeadersTooLarge { .. } | FetchError::Malformed(_));
        assert!(is_told, "{error}");
    }
}

#[tokio::test]
async fn endless_interim_answers() {
    let error = fault(vec![Step::Forever(b"HTTP/1.1 100 Continue\r\n\r\n".to_vec())]).await;
    assert_eq!(timed_out(&error), Some(Phase::FirstByte), "{error}");
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

#[tokio::test]
async fn bombs() {
    let bomb = gzip(&vec![0; 50 << 20]);
    assert!(bomb.len() < 100_000, "it is small on the wire");
    let error = fault(response("200 OK", &[("Content-Encoding", "gzip")], &bomb)).await;
    assert!(matches!(error, FetchError::BodyTooLarge { limit: 100_000, compressed: true }), "{error}");
    let twice = gzip(&bomb);
    let error = fault(response("200 OK", &[("Content-Encoding", "gzip, gzip")], &twice)).await;
    assert!(matches!(error, FetchError::Encoding(_)), "{error}");
    let zeros = vec![0; 50 << 20];
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::best());
    zlib.write_all(&zeros).unwrap();
    let mut raw = flate2::write::DeflateEncoder::new(Vec::new(), Compression::best());
    raw.write_all(&zeros).unwrap();
    for bomb in [zlib.finish().unwrap(), raw.finish().unwrap()] {
        let error = fault(response("200 OK", &[("Content-Encoding", "deflate")], &bomb)).await;
        assert!(matches!(error, FetchError::BodyTooLarge { compressed: true, .. }), "{error}");
    }
    // A stream of them that has no end.
    let endless = Step::Forever(gzip(&vec![0; 1 << 20]));
    let error = fault(vec![send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"), endless]).await;
    assert!(matches!(error, FetchError::BodyTooLarge { compressed: true, .. }), "{error}");
    // One that decompresses to nothing, for ever.
    let empty = Step::Forever(gzip(b""));
    let error = fault(vec![send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"), empty]).await;
    assert_eq!(timed_out(&error), Some(Phase::Total), "{error}");
    // Many small members, one after the other.
    let members: Vec<u8> = gzip(&[0; 1000]).repeat(500);
    let error = fault(response("200 OK", &[("Content-Encoding", "gzip")], &members)).await;
    assert!(matches!(error, FetchError::BodyTooLarge { compressed: true, .. }), "{error}");
}

#[tokio::test]
async fn compressed_bodies() {
    let text = b"text ".repeat(1000);
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::fast());
    zlib.write_all(&text).unwrap();
    let mut raw = flate2::write::DeflateEncoder::new(Vec::new(), Compression::fast());
    raw.write_all(&text).unwrap();
    for (encoding, body) in [
        ("gzip", gzip(&text)),
        ("x-gzip", gzip(&text)),
        ("GZIP", gzip(&text)),
        ("deflate", zlib.finish().unwrap()),
        ("deflate", raw.finish().unwrap()),
        ("identity", text.clone()),
        ("", text.clone()),
    ] {
        let got =
            fetched(response("200 OK", &[("Content-Encoding", encoding)], &body), short()).await.unwrap();
        assert_eq!(got.body, text, "{encoding}");
    }
    let empty = fetched(response("200 OK", &[("Content-Encoding", "deflate")], ""), short()).await.unwrap();
    assert!(empty.body.is_empty());
    for (encoding, body) in [
        ("gzip", b"not gzip".to_vec()),
        ("gzip", gzip(&text)[..40].to_vec()),
        ("deflate", b"\x78\x9c\xff\xff".to_vec()),
        ("deflate", b"\xff\xff".to_vec()),
    ] {
        let error = fault(response("200 OK", &[("Content-Encoding", encoding)], &body)).await;
        assert!(matches!(error, FetchError::Decompression), "{encoding}: {error}");
    }
    for encoding in ["br", "zstd", "nonsense"] {
        let error = fault(response("200 OK", &[("Content-Encoding", encoding)], "x")).await;
        assert!(matches!(error, FetchError::Encoding(_)), "{encoding}: {error}");
    }
}

#[tokio::test]
async fn wrong_lengths() {
    for steps in [
        vec![send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")],
        vec![send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab")],
        vec![send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n")],
        vec![send("HTTP/1.1 200 OK\r\nContent-")],
        vec![],
    ] {
        let error = fault(steps.clone()).await;
        assert!(matches!(error, FetchError::Incomplete), "{error}: {steps:?}");
    }
    // More than was said is another answer, which nobody asked for.
    let got =
        fetched(vec![send("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef")], short()).await.unwrap();
    assert_eq!(got.body, b"abc");
}

#[tokio::test]
async fn malformed_answers() {
    for bytes in [
        &b"SSH-2.0-OpenSSH_9.6\r\n"[..],
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"HTTP/3.0 200 OK\r\n\r\n",
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nBad Header: x\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX\x00: y\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
        b"\r\n\r\n\r\n",
        b"{\"json\": true}\n",
    ] {
        let error = fault(vec![send(bytes)]).await;
        let is_told = matches!(error, FetchError::Malformed(_) | FetchError::Incomplete);
        assert!(is_told, "{}: {error:?}", String::from_utf8_lossy(bytes));
    }
}

#[tokio::test]
async fn a_request_that_is_dropped_ends_its_connection() {
    let server = Server::start(|_| vec![Step::Hang]).await;
    let client = client(LOOPBACK, Limits::default());
    let url = server.url("/");
    let sending = tokio::spawn(async move { client.send(Request::get(url)).await });
    while server.requests().is_empty() {
        tokio::task::yield_now().await;
    }
    sending.abort();
    assert!(sending.await.unwrap_err().is_cancelled());
}

#[tokio::test]
async fn a_plain_server_is_no_secure_one() {
    let server = Server::start(|_| ok("plain")).await;
    let error = client(LOOPBACK, short())
        .send(Request::get(format!("https://127.0.0.1:{}/", server.port())))
        .await
        .unwrap_err();
    assert!(matches!(error, FetchError::Tls { .. } | FetchError::TimedOut { .. }), "{error}");
}
