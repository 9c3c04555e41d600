//! Servers that do not keep to every rule, and whose tools can be used all the same.

use crate::client::scripted::{Answer, Request, Scripted};
use crate::client::{Host, names};
use serde_json::{Value, json};

/// A server with one tool, whose result is the text of a message.
fn server(
    version: &'static str,
    tool: Value,
    result: impl Fn(&Request) -> Answer + Send + Sync + 'static,
) -> Scripted {
    Scripted::new(move |request| answer(request, version, &tool, &result))
}

fn answer(request: &Request, version: &str, tool: &Value, result: impl Fn(&Request) -> Answer) -> Answer {
    let message = &request.message;
    let id = &message["id"];
    let answer = |result: Value| Answer::json(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
    match message["method"].as_str() {
        Some("initialize") => answer(json!({
            "protocolVersion": version, "capabilities": {"tools": {}},
            "serverInfo": {"name": "scripted", "version": "1"},
            "instructions": format!("First call\u{202e} `call`.\n{}the end", "x".repeat(2_000)),
        })),
        Some("tools/list") => answer(json!({ "tools": [tool] })),
        Some("tools/call") => result(request),
        Some(_) if id.is_null() => Answer::status(202),
        _ => Answer::json(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "no"}})),
    }
}

fn plain() -> Value {
    json!({"name": "call", "description": "d", "inputSchema": {"type": "object"}})
}

/// The text of [`done`], and the structured content, which it does not contain.
const DONE: &str = r#"done
{"a":1}"#;

fn done(request: &Request) -> Answer {
    let result = json!({"content": [{"type": "text", "text": "done"}], "structuredContent": {"a": 1}});
    Answer::json(&json!({"jsonrpc": "2.0", "id": request.message["id"], "result": result}))
}

#[tokio::test]
async fn one_block_or_one_surrogate_that_cannot_be_read_does_not_discard_the_others() {
    for is_stream in [true, false] {
        let server = server("2025-11-25", plain(), move |request| {
            let id = &request.message["id"];
            let content = r#"[{"type":"text","text":"before \ud83d"},{"type":"hologram","x":1},{"type":"text","text":"after"}]"#;
            let message = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":{content}}}}}"#);
            if is_stream {
                Answer::of("text/event-stream", format!("data: {message}\n\n"))
            } else {
                Answer::of("application/json; charset=utf-8", message)
            }
        });
        let host = Host::new(json!({"h": {"url": server.url("/mcp")}}));
        let text = host.call("h__call", json!({})).await.text();
        for part in ["before \u{fffd}", "hologram", "after"] {
            assert!(text.contains(part), "{is_stream} {part:?} is not in {text}");
        }
    }
}

#[tokio::test]
async fn the_body_of_a_failed_http_answer_is_shown_bounded_and_escaped() {
    let long = format!("the disk is full\n\u{1b}[2J{}the end", "x".repeat(100_000));
    let error =
        json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32000, "message": "over quota"}}).to_string();
    for (status, kind, body, header, expected) in [
        (
            500,
            "text/plain",
            long.as_str(),
            None,
            r"HTTP 500 Internal Server Error: the disk is full \u{1b}[2Jxxx",
        ),
        (502, "text/html", "<p>upstream</p>", None, "HTTP 502 Bad Gateway: <p>upstream</p>"),
        (
            503,
            "application/json",
            r#"{"detail": "maintenance"}"#,
            None,
            r#"HTTP 503 Service Unavailable: {"detail": "maintenance"}"#,
        ),
        (
            429,
            "text/plain",
            "slow down",
            Some("30"),
            "HTTP 429 Too Many Requests (Retry-After: 30): slow down",
        ),
        (429, "application/json", &error, None, "over quota"),
        (500, "application/json", &error, None, "refused the call: over quota (code -32000)"),
        (500, "text/plain", "", None, "HTTP 500 Internal Server Error"),
    ] {
        for method in ["tools/call", "initialize"] {
            let body = body.to_owned();
            let answer_failed = move |request: &Request| {
                let answer = Answer::of(kind, body.clone()).with_status(status);
                match header {
                    Some(after) => answer.with_header("retry-after", after.to_owned()),
                    None if request.message.is_null() => Answer::status(status),
                    None => answer,
                }
            };
            let server = Scripted::new(move |request| {
                if request.message["method"] == method {
                    return answer_failed(request);
                }
                answer(request, "2025-11-25", &plain(), &answer_failed)
            });
            let host = Host::new(json!({"h": {"url": server.url("/mcp"), "type": "http"}}));
            let text = host.call("h__call", json!({})).await.text();
            // Of a failed start the call names the reason, too, which is escaped before.
            let text = text.replace("\\\\", "\\");
            let expected = if method == "initialize" {
                expected.trim_start_matches("refused the call: ")
            } else {
                expected
            };
            assert!(text.contains(expected), "{method} {status}: {text}");
            assert!(
                text.len() < 1_500 && !text.contains("the end") && !text.contains('\u{1b}'),
                "{status}: {text}"
            );
        }
    }
}

#[tokio::test]
async fn an_output_schema_that_cannot_be_used_leaves_the_tool() {
    for (schema, is_used) in [
        (json!({"type": "object", "properties": {"a": {"type": "integer"}}}), true),
        (json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/absent"}}}), false),
        (json!({"type": "objekt"}), false),
        (json!({"type": "object", "properties": {"a": {"pattern": "("}}}), false),
    ] {
        let mut tool = plain();
        tool["outputSchema"] = schema.clone();
        let server = server("2025-11-25", tool, done);
        let host = Host::new(json!({"h": {"url": server.url("/mcp")}}));
        let toolbox = host.toolbox().await;
        assert!(names(&toolbox).contains(&"h__call"), "{schema}");
        assert_eq!(toolbox.tool("h__call").unwrap().structured_schema().is_some(), is_used, "{schema}");
        assert_eq!(
            host.noticed().contains("the `outputSchema` of its tool \"call\" is not used"),
            !is_used,
            "{schema}"
        );
        assert_eq!(host.call("h__call", json!({})).await.text(), DONE, "{schema}");
    }
}

#[tokio::test]
async fn a_version_that_does_not_exist_is_not_used() {
    for (version, is_known) in
        [("2024-11-05", true), ("2025-11-25", true), ("2025-11-26", false), ("banana", false)]
    {
        let server = server(version, plain(), done);
        let host = Host::new(json!({"h": {"url": server.url("/mcp"), "type": "http"}}));
        let result = host.call("h__call", json!({})).await;
        if is_known {
            assert_eq!(result.text(), DONE, "{version}");
        } else {
            let expected = format!("it answers with the protocol version {version:?}, which does not exist");
            assert!(host.noticed().contains(&expected), "{}", host.noticed());
            assert!(result.is_error(), "{}", result.text());
        }
    }
}

#[tokio::test]
async fn a_redirect_is_followed_within_its_origin_and_named_elsewhere() {
    let other = server("2025-11-25", plain(), done);
    let elsewhere = other.url("/mcp?key=secret");
    for (status, to, expected) in [
        (307, "/mcp".to_owned(), None),
        (308, "/mcp".to_owned(), None),
        (307, elsewhere.clone(), Some("it is another origin")),
        (302, "/mcp".to_owned(), Some("the request would become another one")),
        (307, "/old".to_owned(), Some("there were too many redirects")),
    ] {
        let case = format!("{status} {to}");
        let location = to.clone();
        let server = Scripted::new(move |request| {
            if request.path == "/old" {
                return Answer::status(status).with_header("location", location.clone());
            }
            answer(request, "2025-11-25", &plain(), done)
        });
        let settings = json!({"url": server.url("/old"), "type": "http", "headers": {"X-Key": "k"}});
        let host = Host::new(json!({ "h": settings }));
        let result = host.call("h__call", json!({})).await;
        match expected {
            None => assert_eq!(result.text(), DONE, "{case}"),
            Some(expected) => {
                let noticed = host.noticed();
                assert!(result.is_error() && noticed.contains(expected), "{case}: {noticed}");
                assert!(
                    noticed.contains("it redirects to http://") && !noticed.contains("secret"),
                    "{case}: {noticed}"
                );
            }
        }
    }
    assert!(other.requests().is_empty(), "the headers are for one origin only");
}

#[tokio::test]
async fn instructions_of_a_server_are_passed_on_bounded_and_with_hidden_characters_escaped() {
    let server = server("2025-11-25", plain(), done);
    let host =
        Host::new(json!({"h": {"url": server.url("/mcp")}, "off": {"command": "x", "enabled": false}}));
    let said = host.toolbox().await.source_instructions();
    let [said] = &said[..] else { panic!("{said:?}") };
    assert_eq!(said.source.to_string(), "the MCP server `h`");
    assert!(said.text.starts_with("First call\\u{202e} `call`.\nxxx"), "{said}");
    assert!(said.text.chars().count() < 2_100 && !said.text.contains("the end"), "{said}");
    assert!(said.to_string().starts_with("the MCP server `h` says about its tools:\n> First call"), "{said}");
    let status = host.servers.status();
    assert_eq!(status[0].instructions.as_ref(), Some(&said.text));
    host.servers.stop().await;
    assert!(host.toolbox().await.source_instructions().is_empty());
}
