//! Requests that should get nothing: each is answered with a refusal or not at all, tells nothing of others, and leaves the rest as it was.
#![allow(clippy::unwrap_used)]

use std::net::SocketAddr;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::agents::in_time;
use crate::websocket::{Place, owners_session};

/// Stands in what the owner has, and in no answer to another.
const SECRET: &str = "tide-of-the-owner";

/// A request, and the statuses of which its answer has one. `0` is none at all.
struct Row {
    name: String,
    request: Vec<u8>,
    expected: Vec<u16>,
    /// The request has no end: the client closes its side.
    is_cut: bool,
}

struct Table {
    address: SocketAddr,
    rows: Vec<Row>,
}

impl Table {
    fn raw(&mut self, name: impl Into<String>, request: impl AsRef<[u8]>, expected: &[u16]) {
        let (request, expected) = (request.as_ref().to_vec(), expected.to_vec());
        self.rows.push(Row { name: name.into(), request, expected, is_cut: false });
    }

    /// A request without an end.
    fn cut(&mut self, name: &str, request: impl AsRef<[u8]>, expected: &[u16]) {
        self.raw(name, request, expected);
        if let Some(row) = self.rows.last_mut() {
            row.is_cut = true;
        }
    }

    /// A request with further headers, each with its line break, and a body.
    fn add(&mut self, method: &str, path: &str, headers: &str, body: &str, expected: &[u16]) {
        let host = if headers.to_lowercase().contains("host:") {
            String::new()
        } else {
            format!("host: {}\r\n", self.address)
        };
        let length = match body {
            "" if method == "GET" => String::new(),
            body => format!("content-type: application/json\r\ncontent-length: {}\r\n", body.len()),
        };
        let request =
            format!("{method} {path} HTTP/1.1\r\n{host}{headers}{length}connection: close\r\n\r\n{body}");
        let first = headers.lines().next().unwrap_or_default();
        let shown: String = format!("{method} {path} {first}").chars().take(120).collect();
        self.raw(shown, request, expected);
    }
}

fn bearer(token: &str) -> String {
    format!("authorization: Bearer {token}\r\n")
}

/// Sends bytes, and returns the statuses of all answers and all that came.
async fn sent(address: SocketAddr, request: &[u8], is_cut: bool) -> (Vec<u16>, String) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    // The gateway may refuse before it has read all.
    let _ = stream.write_all(request).await;
    if is_cut {
        let _ = stream.shutdown().await;
    }
    let mut answer = Vec::new();
    let _ = in_time(stream.read_to_end(&mut answer)).await;
    let answer = String::from_utf8_lossy(&answer).into_owned();
    let statuses = answer.match_indices("HTTP/1.1 ").map(|(at, _)| answer[at + 9..at + 12].parse().unwrap());
    (statuses.collect(), answer)
}

/// Paths with the methods that they take.
const PATHS: [(&str, &str); 14] = [
    ("GET", "/v1/status"),
    ("GET", "/v1/sessions"),
    ("GET", "/v1/sessions/main/messages"),
    ("POST", "/v1/sessions/main/messages"),
    ("GET", "/v1/events"),
    ("GET", "/v1/asks"),
    ("GET", "/v1/tools"),
    ("POST", "/v1/tools/http_add/call"),
    ("GET", "/v1/openapi.json"),
    ("GET", "/metrics"),
    ("POST", "/mcp"),
    ("GET", "/v1/uploads"),
    ("POST", "/v1/stop"),
    ("GET", "/v1/schedules"),
];

fn tokens(table: &mut Table, owner: &str, useless: &[(&str, String)]) {
    for (method, path) in PATHS {
        table.add(method, path, "", "", &[401]);
        table.add(method, path, &bearer("wrong"), "", &[401]);
    }
    for (name, token) in useless {
        for (method, path) in [PATHS[0], PATHS[3], PATHS[7], PATHS[10]] {
            table.add(method, path, &format!("{}x-case: {name}\r\n", bearer(token)), "{}", &[401]);
        }
    }
    let query = format!("/v1/status?token={owner}");
    table.add("GET", &query, "", "", &[401]);
    table.add("GET", &format!("/v1/status?access_token={owner}"), "", "", &[401]);
    for headers in [
        format!("cookie: token={owner}\r\n"),
        format!("cookie: authorization=Bearer%20{owner}\r\norigin: http://127.0.0.1:1\r\n"),
        format!("authorization: Basic {owner}\r\n"),
        format!("authorization: {owner}\r\n"),
        format!("authorization: Bearer\r\nx-token: {owner}\r\n"),
        format!("authorization: Bearer wrong\r\n{}", bearer(owner)),
        format!("{}authorization: Bearer wrong\r\n", bearer(owner)),
        format!("{}{}", bearer(owner), bearer(owner)),
        format!("proxy-authorization: Bearer {owner}\r\n"),
        format!("x-forwarded-user: owner\r\nx-token: {owner}\r\n"),
    ] {
        table.add("GET", "/v1/status", &headers, "", &[401]);
    }
}

fn origins(table: &mut Table, owner: &str) {
    let token = bearer(owner);
    let upgrade = "connection: upgrade, close\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\n\
                   sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    for origin in
        ["https://evil.test", "null", "http://127.0.0.1.evil.test", "http://localhost@evil.test", "file://"]
    {
        let headers = format!("{token}origin: {origin}\r\n");
        table.add("GET", "/v1/status", &headers, "", &[403]);
        table.add("POST", "/v1/sessions/main/messages", &headers, "{\"text\":\"x\"}", &[403]);
        table.add("POST", "/mcp", &headers, "{}", &[403]);
        table.raw(
            format!("upgrade from {origin}"),
            format!("GET /ws HTTP/1.1\r\nhost: {}\r\norigin: {origin}\r\n{upgrade}\r\n", table.address),
            &[403],
        );
    }
    for host in ["evil.test", "127.0.0.1.evil.test", "evil.test:80", "[::2]", "a b", ""] {
        let headers = format!("{token}host: {host}\r\n");
        table.add("GET", "/v1/status", &headers, "", &[400, 421]);
        table.add("POST", "/v1/tools/http_add/call", &headers, "{\"a\":1,\"b\":2}", &[400, 421]);
        table.raw(
            format!("upgrade for {host}"),
            format!("GET /ws HTTP/1.1\r\nhost: {host}\r\n{upgrade}\r\n"),
            &[400, 421],
        );
    }
    table.add("GET", "/v1/status", &format!("{token}sec-fetch-site: cross-site\r\n"), "", &[403]);
    table.raw("no host", format!("GET /v1/status HTTP/1.1\r\n{token}connection: close\r\n\r\n"), &[400, 421]);
    table.raw(
        "two hosts",
        format!(
            "GET /v1/status HTTP/1.1\r\nhost: {}\r\nhost: evil.test\r\n{token}connection: close\r\n\r\n",
            table.address
        ),
        &[400, 421],
    );
    let absolute = format!(
        "GET http://evil.test/v1/status HTTP/1.1\r\nhost: {}\r\n{token}connection: close\r\n\r\n",
        table.address
    );
    table.raw("another authority in the request line", absolute, &[400, 421]);
}

fn of_others(table: &mut Table, ada: &str, ids: &[(&str, String)]) {
    let token = bearer(ada);
    let id = |name: &str| ids.iter().find(|(other, _)| *other == name).unwrap().1.clone();
    let (session, message, job) = (owners_session().replace(':', "%3A"), id("message"), id("job"));
    for (method, path) in [
        ("GET", format!("/v1/sessions/{session}")),
        ("PATCH", format!("/v1/sessions/{session}")),
        ("POST", format!("/v1/sessions/{session}/cancel")),
        ("GET", format!("/v1/sessions/{session}/messages")),
        ("POST", format!("/v1/sessions/{session}/messages")),
        ("GET", format!("/v1/sessions/{session}/inbox/{message}")),
        ("DELETE", format!("/v1/sessions/{session}/inbox/{message}")),
        ("GET", format!("/v1/sessions/main/inbox/{message}")),
        ("DELETE", format!("/v1/sessions/main/inbox/{message}")),
        ("GET", format!("/v1/events?session={session}")),
        ("GET", format!("/v1/asks?session={session}")),
        ("GET", format!("/v1/asks/{}", id("ask"))),
        ("POST", format!("/v1/asks/{}", id("ask"))),
        ("GET", format!("/v1/schedules/{job}")),
        ("PATCH", format!("/v1/schedules/{job}")),
        ("DELETE", format!("/v1/schedules/{job}")),
        ("POST", format!("/v1/schedules/{job}/run")),
        ("GET", format!("/v1/schedules/{job}/runs")),
        ("GET", format!("/v1/schedules?session={session}")),
        ("DELETE", format!("/v1/uploads/{SECRET}.txt")),
        ("GET", format!("/v1/keyed-calls/{SECRET}")),
        ("DELETE", format!("/v1/keyed-calls/{SECRET}")),
        ("POST", "/v1/tools/http_of_owner/call".to_owned()),
        ("POST", "/v1/tools/http_of_owner/validate".to_owned()),
        ("GET", "/v1/tools/http_of_owner".to_owned()),
    ] {
        let body = match method {
            "GET" | "DELETE" => "",
            "PATCH" if path.contains("sessions") => "{\"label\":\"mine\"}",
            "PATCH" => "{\"enabled\":false}",
            _ if path.ends_with("messages") => "{\"text\":\"x\"}",
            _ if path.contains("asks") => "{\"type\":\"allow\"}",
            _ => "{}",
        };
        table.add(method, &path, &token, body, &[404]);
    }
    for (method, path, body) in [
        ("POST", "/v1/stop", ""),
        ("POST", "/v1/backup", "{\"directory\":\"/tmp/x\"}"),
        ("GET", "/v1/tokens", ""),
        ("POST", "/v1/tokens", "{\"name\":\"more\",\"person\":\"owner\",\"role\":\"owner\"}"),
        ("DELETE", "/v1/tokens/owner", ""),
        ("POST", "/v1/people/owner/block", ""),
        ("GET", "/metrics", ""),
    ] {
        table.add(method, path, &token, body, &[403, 404]);
    }
    let session_of_mcp =
        format!("{token}mcp-session-id: {}\r\naccept: application/json, text/event-stream\r\n", id("mcp"));
    let list = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}";
    table.add("POST", "/mcp", &session_of_mcp, list, &[400, 404, 422]);
    table.add("DELETE", "/mcp", &session_of_mcp, "", &[400, 404, 405, 422]);
    let stream = format!("{token}mcp-session-id: {}\r\naccept: text/event-stream\r\n", id("mcp"));
    table.add("GET", "/mcp", &stream, "", &[400, 404, 405, 422]);
}

fn bodies(table: &mut Table, owner: &str) {
    let token = bearer(owner);
    let deep = format!("{{\"text\":{}{}}}", "[".repeat(20_000), "]".repeat(20_000));
    let huge = format!("{{\"text\":\"{}\"}}", "x".repeat(4 << 20));
    for path in ["/v1/sessions/main/messages", "/v1/tools/http_add/call"] {
        table.add("POST", path, &token, &huge, &[413]);
        table.add("POST", path, &token, &deep, &[400, 422]);
        for body in [
            "[]",
            "7",
            "{",
            "{\"text\":",
            "\u{0}",
            "{\"text\":\"\\ud800\"}",
            "{\"a\":1,\"a\":2,\"b\":3,\"text\":1}",
        ] {
            table.add("POST", path, &token, body, &[400, 422]);
        }
        let invalid = [format!("POST {path} HTTP/1.1\r\nhost: {}\r\n{token}content-type: application/json\r\nconnection: close\r\ncontent-length: 12\r\n\r\n{{\"text\":\"", table.address).as_bytes(), b"\xff\"}"].concat();
        table.raw(format!("no UTF-8 at {path}"), invalid, &[400, 422]);
        let other = format!(
            "POST {path} HTTP/1.1\r\nhost: {}\r\n{token}content-type: text/plain\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{{}}",
            table.address
        );
        table.raw(format!("text at {path}"), other, &[400, 415, 422]);
        let chunked = format!(
            "POST {path} HTTP/1.1\r\nhost: {}\r\n{token}content-type: application/json\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n",
            table.address
        );
        let chunk = format!("500000\r\n{}\r\n0\r\n\r\n", "x".repeat(0x50_0000));
        table.raw(format!("a large chunk at {path}"), chunked + &chunk, &[413]);
    }
}

fn smuggling(table: &mut Table, owner: &str) {
    let token = bearer(owner);
    let address = table.address;
    // A second request that stands in the body of the first one must not be answered.
    let second = format!(
        "POST /v1/sessions/main/messages HTTP/1.1\r\nhost: {address}\r\n{token}content-type: application/json\r\nconnection: close\r\ncontent-length: 19\r\n\r\n{{\"text\":\"smuggled\"}}"
    );
    let first = |headers: &str, body: &str| {
        format!(
            "POST /v1/tools/http_add/validate HTTP/1.1\r\nhost: {address}\r\n{token}content-type: application/json\r\n{headers}\r\n{body}{second}"
        )
    };
    for (name, headers, body) in [
        ("length and chunks", "content-length: 4\r\ntransfer-encoding: chunked\r\n", "0\r\n\r\n"),
        ("two lengths", "content-length: 0\r\ncontent-length: 300\r\n", ""),
        ("two lengths in one", "content-length: 0, 300\r\n", ""),
        ("a signed length", "content-length: +0\r\n", ""),
        ("a negative length", "content-length: -1\r\n", ""),
        ("a length in hex", "content-length: 0x0\r\n", ""),
        ("an unknown encoding", "transfer-encoding: xchunked\r\n", "0\r\n\r\n"),
        ("an encoding twice", "transfer-encoding: chunked\r\ntransfer-encoding: identity\r\n", "0\r\n\r\n"),
        ("an encoding after another", "transfer-encoding: chunked, gzip\r\n", "0\r\n\r\n"),
        ("a space before the colon", "transfer-encoding : chunked\r\ncontent-length: 0\r\n", ""),
        ("a folded header", "x-a: b\r\n transfer-encoding: chunked\r\ncontent-length: 0\r\n", ""),
        ("a chunk of a size beyond numbers", "transfer-encoding: chunked\r\n", "ffffffffffffffff1\r\n"),
        ("a chunk of no size", "transfer-encoding: chunked\r\n", "zz\r\n"),
    ] {
        // The first one may be answered, but no second one: the connection ends.
        table.raw(name, first(headers, body), &[0, 200, 400, 411, 422, 501]);
    }
    table.raw(
        "a length of the older protocol",
        format!("POST /v1/stop HTTP/1.0\r\n{token}transfer-encoding: chunked\r\n\r\n0\r\n\r\n"),
        &[0, 400, 421],
    );
    table.cut("no HTTP", "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\u{0}\u{1}", &[0, 400]);
    table.cut("another protocol", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", &[0, 400]);
    table.raw(
        "another version",
        format!("GET /v1/status HTTP/9.9\r\nhost: {address}\r\n{token}\r\n"),
        &[0, 400],
    );
    table.cut("half a request", format!("GET /v1/status HTTP/1.1\r\nhost: {address}\r\n{token}"), &[0, 400]);
    let many = "x-a: b\r\n".repeat(1_000);
    table.raw(
        "many headers",
        format!("GET /v1/status HTTP/1.1\r\nhost: {address}\r\n{many}{token}\r\n"),
        &[0, 400, 431],
    );
    let long = "x".repeat(1 << 20);
    table.raw(
        "a long header",
        format!("GET /v1/status HTTP/1.1\r\nhost: {address}\r\nx-a: {long}\r\n{token}\r\n"),
        &[0, 400, 431],
    );
}

fn paths(table: &mut Table, owner: &str) {
    let token = bearer(owner);
    for path in [
        "//v1/status",
        "/v1//status",
        "/v1/./status",
        "/v1/../v1/status",
        "/healthz/../v1/status",
        "/v1/%2e%2e/v1/status",
        "/v1/%73tatus",
        "/V1/status",
        "/v1/status/",
        "/v1/status;x=1",
        "/v1/status%00",
        "/v1/status%2f",
        "/v1\\status",
        "/v1/sessions/..%2f..%2fstatus",
        "/v1/sessions/%ff%fe",
        "/v1/tools/..%2f..%2fgateway.token",
        "/v1/tools/%2e%2e",
        "/v1/uploads/..%2f..%2fgateway.token",
        "/v1/results/..%2f..%2fgateway.token/0",
        "/gateway.token",
        "/gateway.db",
        "/.git/config",
        "/ws/",
        "/mcp/..%2fv1",
    ] {
        table.add("GET", path, &token, "", &[400, 404, 405]);
    }
    table.add("GET", &format!("/v1/sessions/{}", "x".repeat(60_000)), &token, "", &[400, 404, 414]);
    for method in ["TRACE", "CONNECT", "PUT", "MKCOL", "get"] {
        table.add(method, "/v1/status", &token, "", &[400, 404, 405]);
    }
    table.add("GET", "/v1/status?%00=1", &token, "", &[400]);
    table.add("GET", "/v1/outbox?limit=99999999999999999999", &token, "", &[400]);
    table.add("GET", "/v1/events?after=-1", &token, "", &[400]);
}

#[tokio::test]
async fn hostile_requests_get_nothing_and_the_rest_goes_on() {
    let place = Place::new().await;
    let owner = place.owner.clone();
    let ada = place.ada("phone").await;
    let useless = useless_tokens(&place).await;
    let ids = things_of_the_owner(&place).await;
    let mut table = Table { address: place.gateway.address(), rows: Vec::new() };
    tokens(&mut table, &owner, &useless);
    origins(&mut table, &owner);
    of_others(&mut table, &ada, &ids);
    bodies(&mut table, &owner);
    smuggling(&mut table, &owner);
    paths(&mut table, &owner);
    assert!(table.rows.len() >= 190, "{}", table.rows.len());
    let before = place.http("GET", "/v1/sessions/main", &owner, None).await.1;
    let mut faults = Vec::new();
    for Row { name, request, expected, is_cut } in &table.rows {
        let (statuses, answer) = sent(table.address, request, *is_cut).await;
        let first = statuses.first().copied().unwrap_or(0);
        // Many wrong tokens are answered in this way.
        let is_limited = first == 429 && expected.contains(&401);
        if statuses.len() > 1 || !(expected.contains(&first) || is_limited) {
            faults.push(format!(
                "{name}: {statuses:?}, and not {expected:?}\n  {}",
                answer.lines().last().unwrap_or_default()
            ));
        }
        if answer.contains(SECRET) && !name.contains(SECRET) {
            faults.push(format!("{name}: it tells what is the owner's"));
        }
        if answer.contains(&owner) || answer.contains(&ada) {
            faults.push(format!("{name}: it tells a token"));
        }
    }
    assert!(faults.is_empty(), "{} of {}:\n{}", faults.len(), table.rows.len(), faults.join("\n"));
    // Nothing was sent, changed, answered or stopped, and all goes on.
    let after = place.http("GET", "/v1/sessions/main", &owner, None).await.1;
    for key in ["label", "messageCount", "queued"] {
        assert_eq!(before[key], after[key], "{key}");
    }
    let asks = place.http("GET", "/v1/asks", &owner, None).await.1;
    assert_eq!(asks["asks"].as_array().unwrap().len(), 1, "{asks}");
    assert_eq!(place.http("GET", "/healthz", "", None).await.0, 200);
    let (status, added) =
        place.http("POST", "/v1/tools/http_add/call", &ada, Some(json!({ "a": 1, "b": 2 }))).await;
    assert_eq!((status, added["content"][0]["text"].as_str()), (200, Some("3")), "{added}");
    place.stop().await;
}

/// Tokens that counted, or never did.
async fn useless_tokens(place: &Place) -> Vec<(&'static str, String)> {
    let made = async |wanted: Value| {
        let made = place.http("POST", "/v1/tokens", &place.owner, Some(wanted)).await.1;
        made["token"].as_str().unwrap().to_owned()
    };
    let revoked = made(json!({ "name": "revoked", "person": "ada" })).await;
    assert_eq!(place.http("DELETE", "/v1/tokens/revoked", &place.owner, None).await.0, 204);
    let expired = made(json!({ "name": "expired", "person": "ada", "expiresInSeconds": 1 })).await;
    let blocked = made(json!({ "name": "blocked", "person": "eve" })).await;
    assert_eq!(place.http("POST", "/v1/people/eve/block", &place.owner, None).await.0, 200);
    in_time(async {
        while place.http("GET", "/v1/status", &expired, None).await.0 == 200 {
            tokio::task::yield_now().await;
        }
    })
    .await;
    vec![
        ("revoked", revoked),
        ("expired", expired),
        ("blocked", blocked),
        ("part of the owner's", place.owner[..place.owner.len() - 1].to_owned()),
        ("longer than the owner's", format!("{}x", place.owner)),
    ]
}

/// Things of the owner, by names: a message, a job, a question, an upload, a keyed call, a session of MCP.
async fn things_of_the_owner(place: &Place) -> Vec<(&'static str, String)> {
    let owner = &place.owner;
    let post = async |path: &str, body: Value| place.http("POST", path, owner, Some(body)).await;
    let label = json!({ "label": SECRET });
    assert_eq!(place.http("PATCH", "/v1/sessions/main", owner, Some(label)).await.0, 200);
    let sent = post("/v1/sessions/main/messages", json!({ "text": SECRET })).await.1;
    let message = sent["id"].to_string();
    let path = format!("/v1/sessions/main/inbox/{message}?waitSeconds=60");
    in_time(place.http("GET", &path, owner, None)).await;
    let job = json!({ "schedule": "0 0 1 1 *", "prompt": SECRET });
    let job = post("/v1/schedules", job).await.1["id"].as_str().unwrap().to_owned();
    let upload = post(&format!("/v1/uploads?name={SECRET}.txt"), json!(SECRET)).await;
    assert_eq!(upload.0, 201, "{}", upload.1);
    // The question of a call that waits, with a key.
    let body = json!({ "name": SECRET }).to_string();
    let address = place.gateway.address();
    let call = format!(
        "POST /v1/tools/http_change/call HTTP/1.1\r\nhost: {address}\r\n{}idempotency-key: {SECRET}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        bearer(owner),
        body.len()
    );
    let mut calling = TcpStream::connect(address).await.unwrap();
    calling.write_all(call.as_bytes()).await.unwrap();
    let ask = place.asked(owner).await.remove(0);
    let mcp = crate::tool_routes::initialized(place, owner).await;
    vec![("message", message), ("job", job), ("ask", ask), ("mcp", mcp)]
}
