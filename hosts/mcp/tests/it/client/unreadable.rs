//! Servers whose answers cannot be read: each is an error of its call, at once, and the session goes on.

use crate::client::scripted::{Answer, Scripted};
use crate::client::{Host, command, example, names};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::task::JoinHandle;
use toolkit::{ToolErrorKind, ToolResult};
use toolkit_mcp::ServerState;

/// A task that ends with the test.
struct AbortOnDrop(JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Kinds of unreadable answers, and the reason that a call gives for each.
const UNREADABLE: [(&str, &str); 11] = [
    ("deep", "has more than 127 levels of nested JSON"),
    ("deeper", "has more than 127 levels of nested JSON"),
    ("json", "is not valid JSON"),
    ("cut", "is not valid JSON"),
    ("utf8", "is not valid UTF-8"),
    ("shape", "is not a message of JSON-RPC"),
    ("no-id", "is not valid JSON"),
    ("no-outcome", "is not a message of JSON-RPC"),
    ("null-id", "refused the call: Parse error (code -32700)"),
    ("huge", "has more than 1048576 bytes, the limit for one message"),
    ("huge-late", "has more than 1048576 bytes, the limit for one message"),
];

fn check(how: &str, result: &ToolResult, expected: &str) {
    let text = result.text();
    assert_eq!(result.error().map(toolkit::ToolError::kind), Some(ToolErrorKind::Failed), "{how}: {text}");
    assert!(text.contains(expected) && text.contains("`h`"), "{how}: {text}");
    for rust in ["JsonRpc", "serde", "Error(", "ServerResult", "{ "] {
        assert!(!text.contains(rust), "{how}: {text}");
    }
}

fn limited(mut settings: Value) -> Value {
    settings["maxMessageBytes"] = json!(1 << 20);
    settings
}

#[tokio::test]
async fn of_a_command_each_is_an_error_and_the_session_goes_on() {
    let host = Host::new(json!({"h": limited(command(example("hostile"), &["unreadable"]))}));
    for (how, expected) in UNREADABLE {
        check(how, &host.call("h__call", json!({"how": how})).await, expected);
        assert_eq!(host.call("h__call", json!({"how": "fine"})).await.text(), "fine", "after {how}");
    }
    let nearly = host.call("h__call", json!({"how": "nearly"})).await;
    assert!(nearly.error().is_none(), "{}", nearly.text());
    let started = host.noticed();
    assert!(!started.contains("ended"), "{started}");
}

#[tokio::test]
async fn a_line_without_an_end_is_an_error_and_the_server_is_started_again() {
    let host = Host::new(json!({"h": limited(command(example("hostile"), &["unreadable"]))}));
    let endless = host.call("h__call", json!({"how": "endless"})).await;
    check("endless", &endless, "has more than 1048576 bytes, the limit for one message");
    host.until("the connection ends", |host| host.noticed().contains("the connection ended")).await;
    assert_eq!(host.call("h__call", json!({"how": "fine"})).await.text(), "fine");
}

/// A server over HTTP that answers calls of its tool as they say.
fn server(is_stream: bool) -> Scripted {
    Scripted::new(move |request| {
        let message = &request.message;
        let id = &message["id"];
        let answer = |result: Value| Answer::json(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
        match message["method"].as_str() {
            Some("initialize") => answer(json!({
                "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "scripted", "version": "1"},
            })),
            Some("tools/list") => {
                let result = json!({"tools": [
                    {"name": "call", "description": "d", "inputSchema": {"type": "object"}},
                    {"name": "task", "inputSchema": {"type": "object"}, "execution": {"taskSupport": "required"}},
                ]});
                let list = json!({"jsonrpc": "2.0", "id": id, "result": result});
                if is_stream {
                    Answer::of("text/event-stream", format!("event: message\ndata: {list}\n\n"))
                } else {
                    answer(result)
                }
            }
            Some("tools/call") => {
                let body = body(message["params"]["arguments"]["how"].as_str().unwrap_or_default(), id);
                if is_stream {
                    Answer::of("text/event-stream", [&b"event: message\ndata: "[..], &body, b"\n\n"].concat())
                } else {
                    Answer::of("application/json", body)
                }
            }
            Some(_) if id.is_null() => Answer::status(202),
            _ => {
                Answer::json(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "no"}}))
            }
        }
    })
}

fn body(how: &str, id: &Value) -> Vec<u8> {
    let whole = |result: String| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#).into_bytes();
    match how {
        "deep" => whole(format!("{}1{}", "[".repeat(200), "]".repeat(200))),
        "json" => whole(r#"{"content":[}"#.to_owned()),
        "utf8" => [&whole(r#"{"content":[{"type":"text","text":""#.to_owned())[..], b"\xff\"}]}}"].concat(),
        "shape" => format!(r#"{{"jsonrpc":"2.0","id":{id}}}"#).into_bytes(),
        "null-id" => br#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}"#.to_vec(),
        "huge" => whole(format!("\"{}\"", "x".repeat(3 << 20))),
        _ => whole(r#"{"content":[{"type":"text","text":"fine"}]}"#.to_owned()),
    }
}

#[tokio::test]
async fn over_http_each_is_an_error_and_the_session_goes_on() {
    for is_stream in [false, true] {
        let scripted = server(is_stream);
        let host = Host::new(json!({"h": limited(json!({"url": scripted.url("/mcp")}))}));
        // Of a list in an event, all is known that it says of a tool.
        if is_stream {
            let toolbox = host.toolbox().await;
            assert_eq!(names(&toolbox), ["h__call"]);
        }
        for (how, expected) in [
            ("deep", "has more than 127 levels of nested JSON"),
            ("json", "is not valid JSON"),
            ("utf8", "is not valid"),
            ("shape", "is not a message of JSON-RPC"),
            (
                "null-id",
                if is_stream { "Parse error" } else { "refused the call: Parse error (code -32700)" },
            ),
            ("huge", "has more than 1048576 bytes, the limit for one message"),
        ] {
            check(how, &host.call("h__call", json!({"how": how})).await, expected);
            assert_eq!(host.call("h__call", json!({"how": "fine"})).await.text(), "fine", "after {how}");
        }
        assert!(matches!(host.state("h"), ServerState::Ready { .. }), "{}", host.noticed());
    }
}

#[tokio::test]
async fn a_server_that_cannot_be_reached_is_told_in_words() {
    let teapot = Scripted::new(|_| Answer::status(418));
    let page = Scripted::new(|_| Answer::of("text/html", b"<html>".to_vec()));
    // Nobody listens there any more.
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    // It speaks no TLS.
    let plain = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let no_tls = format!("https://{}/mcp", plain.local_addr().unwrap());
    let _plain = AbortOnDrop(tokio::spawn(async move {
        while let Ok((mut stream, _)) = plain.accept().await {
            let _ = stream.write_all(b"HTTP/1.1 400 no\r\n\r\n").await;
        }
    }));
    // No name has so long a part, so nobody is asked for it.
    let unnamed = format!("http://{}.invalid/mcp", "x".repeat(64));
    let host = Host::new(json!({
        "gone": {"url": format!("http://{gone}/mcp?key=very-secret")},
        "unnamed": {"url": unnamed.clone()},
        "teapot": {"url": teapot.url("/mcp")},
        "page": {"url": page.url("/mcp")},
        "plain": {"url": no_tls},
    }));
    host.toolbox().await;
    for (name, expected) in [
        ("gone", format!("connection refused (http://{gone}/mcp)")),
        ("unnamed", format!("name not found ({unnamed})")),
        ("teapot", format!("HTTP 418 I'm a teapot ({})", teapot.url("/mcp"))),
        ("page", format!("neither JSON nor an event stream ({})", page.url("/mcp"))),
        ("plain", "TLS failed".to_owned()),
    ] {
        let failed = |host: &Host| matches!(host.state(name), ServerState::Failed { .. });
        host.until("it fails", failed).await;
        let ServerState::Failed { why } = host.state(name) else { unreachable!() };
        assert!(why.contains(&expected), "{name}: {why}");
        for rust in ["Transport", "reqwest", "Client error", "hyper", "Error", "very-secret", "Some("] {
            assert!(!why.contains(rust), "{name}: {why}");
        }
    }
}

#[tokio::test]
async fn a_connection_that_is_refused_during_a_call_is_told_in_words() {
    let scripted = server(false);
    let url = scripted.url("/mcp");
    let host = Host::new(json!({"h": {"url": url.clone()}}));
    assert_eq!(host.call("h__call", json!({"how": "fine"})).await.text(), "fine");
    drop(scripted);
    let refused = host.call("h__call", json!({"how": "fine"})).await;
    assert_eq!(refused.error().unwrap().kind(), ToolErrorKind::Unavailable);
    assert!(
        refused
            .text()
            .contains(&format!("the MCP server `h` at {url} could not be reached for the call: connection")),
        "{}",
        refused.text()
    );
}
