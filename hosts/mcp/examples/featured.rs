//! A server with resources, prompts and questions, for tests of a client: `featured` serves its standard streams, in the version
//! 2025-11-25 of the protocol.

use serde_json::{Value, json};
use std::io::Write as _;

fn say(message: &Value) {
    let mut out = std::io::stdout().lock();
    if writeln!(out, "{message}").and_then(|()| out.flush()).is_err() {
        std::process::exit(0);
    }
}

fn text(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

/// The answer to a request; an error where it is a code and a message.
fn answer(method: &str, params: &Value) -> Result<Value, (i64, String, Value)> {
    let none = |code, message: &str| Err((code, message.to_owned(), Value::Null));
    match method {
        "initialize" => Ok(json!({
            "protocolVersion": "2025-11-25", "serverInfo": {"name": "featured", "version": "1"},
            "capabilities": {"tools": {}, "resources": {}, "prompts": {}},
        })),
        "tools/list" => Ok(json!({"tools": [
            {"name": "roots", "description": "Tells the roots.", "inputSchema": {"type": "object"}},
            {"name": "open", "description": "Sends a person elsewhere.", "inputSchema": {"type": "object"}},
            {"name": "first", "description": "Needs a person elsewhere first.", "inputSchema": {"type": "object"}},
            {"name": "hidden", "title": "t\u{202e}", "description": "Ignore\u{e0041} nothing.\u{1b}[2J",
                "inputSchema": {"type": "object", "properties": {"a": {"type": "string", "description": "x\u{200b}y"}}}},
            {"name": "worse", "description": "d", "inputSchema": {"type": "object", "properties": {"a\u{202e}b": {}}}},
        ]})),
        "resources/list" if params["cursor"].is_null() => Ok(json!({
            "resources": [{"uri": "test://text", "name": "text", "title": "A text\u{202e}", "description": "Says hello.",
                "mimeType": "text/plain", "size": 5}],
            "nextCursor": "2",
        })),
        "resources/list" => Ok(json!({"resources": [
            {"uri": "test://picture", "name": "picture", "mimeType": "image/png"}, {"uri": "test://data", "name": "data"},
        ]})),
        "resources/templates/list" => {
            Ok(json!({"resourceTemplates": [{"uriTemplate": "test://user/{name}", "name": "user"}]}))
        }
        "resources/read" => {
            let uri = params["uri"].as_str().unwrap_or_default();
            let contents = match uri {
                "test://text" => json!({"uri": uri, "mimeType": "text/plain", "text": "hello\u{202e}"}),
                "test://picture" => json!({"uri": uri, "mimeType": "image/png", "blob": "iVBORw0KGgo="}),
                "test://data" => json!({"uri": uri, "blob": "AQID"}),
                "test://user/ada" => json!({"uri": uri, "text": "Ada"}),
                "test://bad" => json!({"uri": uri, "blob": "§"}),
                _ => return none(-32002, "Resource not found"),
            };
            Ok(json!({"contents": [contents]}))
        }
        "prompts/list" => Ok(json!({"prompts": [
            {"name": "review", "title": "Review", "description": "Reviews\u{202e} code.",
                "arguments": [{"name": "code", "description": "The code.", "required": true}]},
            {"name": "plain"},
        ]})),
        "prompts/get" => match params["name"].as_str() {
            Some("review") => Ok(json!({"description": "d", "messages": [
                {"role": "user", "content": {"type": "text", "text": format!("review {}\u{202e}", params["arguments"]["code"])}},
                {"role": "assistant", "content": {"type": "text", "text": "yes"}},
            ]})),
            Some("plain") => {
                Ok(json!({"messages": [{"role": "user", "content": {"type": "text", "text": "plain"}}]}))
            }
            _ => none(-32602, "no such prompt"),
        },
        "tools/call" if params["name"] == "hidden" => Ok(json!({
            "content": [{"type": "text", "text": "👩‍🚒 a\u{202e}b"}], "structuredContent": {"k\u{200b}": "\u{9b}"},
        })),
        "tools/call" => Err((
            -32042,
            "sign in first".to_owned(),
            json!({"elicitations": [{"mode": "url", "elicitationId": "1", "message": "Sign in.", "url": "https://bücher.example/in"}]}),
        )),
        "ping" => Ok(json!({})),
        _ => none(-32601, "Method not found"),
    }
}

fn main() {
    // The call that waits for an answer of the client.
    let mut waiting = Value::Null;
    for line in std::io::stdin().lines() {
        let Ok(line) = line else { return };
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        let (id, params) = (&message["id"], &message["params"]);
        let Some(method) = message["method"].as_str() else {
            let result = text(&message["result"].to_string());
            say(&json!({"jsonrpc": "2.0", "id": waiting, "result": result}));
            continue;
        };
        let asks = match params["name"].as_str() {
            Some("roots") if method == "tools/call" => json!({"method": "roots/list"}),
            Some("open") if method == "tools/call" => json!({"method": "elicitation/create", "params": {
                "mode": "url", "elicitationId": "1", "message": "Please\u{202e} pay.", "url": "https://bücher.example/pay?a=1",
            }}),
            _ => Value::Null,
        };
        if let Value::Object(mut request) = asks {
            waiting = id.clone();
            request.insert("jsonrpc".to_owned(), "2.0".into());
            request.insert("id".to_owned(), "asks".into());
            say(&request.into());
        } else if !id.is_null() {
            say(&match answer(method, params) {
                Ok(result) => json!({"jsonrpc": "2.0", "id": id, "result": result}),
                Err((code, message, data)) => {
                    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message, "data": data}})
                }
            });
        }
    }
}
