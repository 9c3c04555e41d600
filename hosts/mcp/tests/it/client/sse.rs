//! Servers of the version 2024-11-05: an event stream, and an address for messages.

use crate::client::Host;
use crate::client::scripted::{Answer, Request, Scripted};
use serde_json::{Value, json};
use std::sync::Mutex;
use tokio::sync::mpsc;
use toolkit_mcp::ServerState;

/// A server that names this address for messages.
fn server(endpoint: &'static str) -> Scripted {
    let stream: Mutex<Option<mpsc::Sender<Vec<u8>>>> = Mutex::default();
    Scripted::new(move |request| match (request.method.as_str(), request.path.as_str()) {
        ("GET", "/sse") => {
            let (sender, receiver) = mpsc::channel(64);
            *stream.lock().unwrap() = Some(sender);
            Answer::events(format!(": welcome\r\n\r\nevent: endpoint\r\ndata: {endpoint}\r\n\r\n"), receiver)
        }
        ("POST", "/messages?session=1") => {
            if let Some(data) = answer(&request.message) {
                let event = [b"event: message\ndata: ", &data[..], b"\n\n"].concat();
                stream.lock().unwrap().as_ref().unwrap().try_send(event).unwrap();
            }
            Answer::status(202)
        }
        _ => Answer::status(405),
    })
}

fn answer(message: &Value) -> Option<Vec<u8>> {
    let id = message.get("id")?;
    let result = match message["method"].as_str()? {
        "initialize" => json!({"protocolVersion": "2024-11-05", "capabilities": {"tools": {}},
            "serverInfo": {"name": "older", "version": "1"}}),
        "tools/list" => {
            json!({"tools": [{"name": "call", "description": "d", "inputSchema": {"type": "object"}}]})
        }
        "tools/call" if message["params"]["arguments"]["how"] == "bad" => {
            return Some(format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[}}"#).into_bytes());
        }
        "tools/call" => json!({"content": [{"type": "text", "text": "called"}]}),
        _ => {
            let error = json!({"code": -32601, "message": "Method not found"});
            return Some(json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string().into_bytes());
        }
    };
    Some(json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string().into_bytes())
}

#[tokio::test]
async fn it_is_spoken_to_where_it_takes_no_messages_at_its_address() {
    for settings in [json!({}), json!({"type": "sse"})] {
        let server = server("/messages?session=1");
        let mut settings = settings;
        settings["url"] = server.url("/sse").into();
        settings["headers"] = json!({"x-key": "secret"});
        let is_stated = settings.get("type").is_some();
        let host = Host::new(json!({"h": settings}));
        for _ in 0..2 {
            assert_eq!(host.call("h__call", json!({})).await.text(), "called");
        }
        let bad = host.call("h__call", json!({"how": "bad"})).await;
        assert!(bad.text().contains("is not valid JSON"), "{}", bad.text());
        assert_eq!(host.call("h__call", json!({})).await.text(), "called");
        let ServerState::Ready { about, .. } = host.state("h") else { panic!("{}", host.noticed()) };
        assert!(about.contains("protocol 2024-11-05"), "{about}");
        let requests = server.requests();
        assert!(requests.iter().all(|request| request.headers.contains("x-key: secret")));
        let at = |method: &str, path: &str| {
            requests
                .iter()
                .filter(|request: &&Request| request.method == method && request.path == path)
                .count()
        };
        assert_eq!(at("GET", "/sse"), 1);
        assert_eq!(at("POST", "/sse") == 0, is_stated);
        assert_eq!(at("POST", "/messages?session=1"), 7);
    }
}

#[tokio::test]
async fn an_address_for_messages_elsewhere_is_not_used() {
    let other = Scripted::new(|_| Answer::status(202));
    let url: &'static str = Box::leak(other.url("/messages").into_boxed_str());
    let server = server(url);
    let host =
        Host::new(json!({"h": {"url": server.url("/sse"), "type": "sse", "headers": {"x-key": "secret"}}}));
    host.toolbox().await;
    host.until("it fails", |host| matches!(host.state("h"), ServerState::Failed { .. })).await;
    let ServerState::Failed { why } = host.state("h") else { unreachable!() };
    assert!(why.contains("names for messages is not used: it is at http://127.0.0.1:"), "{why}");
    assert!(other.requests().is_empty());
}

#[tokio::test]
async fn a_server_of_neither_kind_is_told_by_its_first_answer() {
    let neither = Scripted::new(|_| Answer::status(404));
    let host = Host::new(json!({"h": {"url": neither.url("/x")}}));
    host.toolbox().await;
    host.until("it fails", |host| matches!(host.state("h"), ServerState::Failed { .. })).await;
    let ServerState::Failed { why } = host.state("h") else { unreachable!() };
    assert!(why.contains(&format!("HTTP 404 Not Found ({})", neither.url("/x"))), "{why}");
    // With streamable HTTP stated, no stream is looked for.
    let only = Scripted::new(|_| Answer::status(405));
    let host = Host::new(json!({"h": {"url": only.url("/x"), "type": "http"}}));
    host.toolbox().await;
    host.until("it fails", |host| matches!(host.state("h"), ServerState::Failed { .. })).await;
    assert!(only.requests().iter().all(|request| request.method == "POST"), "{:?}", only.requests());
}
