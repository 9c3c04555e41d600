//! Servers that have forgotten the session, as after a restart.

use crate::client::Host;
use crate::client::scripted::{Answer, Scripted};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The number of the session that a server knows, and of those that were begun.
#[derive(Default)]
struct Sessions {
    begun: AtomicUsize,
    /// Sessions up to this number are refused.
    forgotten: AtomicUsize,
    /// Sessions that may be begun.
    most: AtomicUsize,
}

/// A server whose sessions have numbers, and which refuses those that it has forgotten.
fn server(sessions: &Arc<Sessions>, refusal: impl Fn() -> Answer + Send + Sync + 'static) -> Scripted {
    let sessions = Arc::clone(sessions);
    Scripted::new(move |request| {
        let message = &request.message;
        let id = &message["id"];
        let answer = |result: Value| Answer::json(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
        let method = message["method"].as_str();
        let session = request.headers.lines().find_map(|line| line.strip_prefix("mcp-session-id:"));
        let session: Option<usize> = session.and_then(|session| session.trim().parse().ok());
        match method {
            Some("initialize") => {
                let number = sessions.begun.fetch_add(1, Ordering::SeqCst) + 1;
                if number > sessions.most.load(Ordering::SeqCst) {
                    return Answer::status(503);
                }
                answer(json!({
                    "protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                    "serverInfo": {"name": "scripted", "version": "1"},
                }))
                .with_header("mcp-session-id", number.to_string())
            }
            _ if session.is_some_and(|number| number <= sessions.forgotten.load(Ordering::SeqCst)) => {
                refusal()
            }
            Some("tools/list") => answer(json!({
                "tools": [{"name": "call", "description": "d", "inputSchema": {"type": "object"}}],
            })),
            Some("tools/call") => answer(json!({"content": [{"type": "text", "text": "done"}]})),
            Some(_) if id.is_null() => Answer::status(202),
            _ => {
                Answer::json(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "no"}}))
            }
        }
    })
}

fn of_typescript(message: &str) -> String {
    json!({"jsonrpc": "2.0", "error": {"code": -32000, "message": message}, "id": null}).to_string()
}

#[tokio::test]
async fn any_refusal_of_the_session_begins_a_new_one_once() {
    const NO_VALID: &str = "Bad Request: No valid session ID provided";
    for (status, kind, body, is_of_session) in [
        (404, "text/plain", "Session not found".to_owned(), true),
        (404, "application/json", of_typescript("Session not found"), true),
        (400, "application/json", of_typescript(NO_VALID), true),
        (400, "application/json", of_typescript("Bad Request: Server not initialized"), true),
        (400, "text/plain", NO_VALID.to_owned(), true),
        (410, "text/html", "<p>This session has expired</p>".to_owned(), true),
        (400, "application/json", of_typescript("Bad Request: the arguments are too long"), false),
        (400, "text/plain", "the arguments are too long".to_owned(), false),
    ] {
        let case = format!("{status} {body}");
        let sessions = Arc::new(Sessions::default());
        sessions.most.store(9, Ordering::SeqCst);
        let text = body.clone();
        let server = server(&sessions, move || Answer::of(kind, text.clone()).with_status(status));
        let host = Host::new(json!({"h": {"url": server.url("/mcp")}}));
        assert_eq!(host.call("h__call", json!({})).await.text(), "done", "{case}");
        let before = sessions.begun.load(Ordering::SeqCst);
        sessions.forgotten.store(before, Ordering::SeqCst);
        let result = host.call("h__call", json!({})).await;
        let begun = sessions.begun.load(Ordering::SeqCst) - before;
        if is_of_session {
            assert_eq!((&*result.text(), begun), ("done", 1), "{case}");
            assert_eq!(host.call("h__call", json!({})).await.text(), "done", "{case}");
        } else {
            assert!(result.text().contains("the arguments are too long") && begun == 0, "{case}: {result:?}");
        }
        // A server that refuses the new session too is not asked for ever, and its words are the error.
        if is_of_session && status != 404 {
            let before = sessions.begun.load(Ordering::SeqCst);
            sessions.forgotten.store(1_000, Ordering::SeqCst);
            let result = host.call("h__call", json!({})).await;
            let words = ["No valid session ID", "Server not initialized", "This session has expired"];
            assert!(words.iter().any(|words| result.text().contains(words)), "{case}: {}", result.text());
            assert_eq!(sessions.begun.load(Ordering::SeqCst) - before, 1, "{case}");
        }
    }
}

#[tokio::test]
async fn a_session_that_cannot_be_renewed_is_an_error_with_the_cause() {
    let sessions = Arc::new(Sessions::default());
    sessions.most.store(9, Ordering::SeqCst);
    let refusal = || {
        Answer::of("application/json", of_typescript("Bad Request: No valid session ID provided"))
            .with_status(400)
    };
    let server = server(&sessions, refusal);
    let host = Host::new(json!({"h": {"url": server.url("/mcp")}}));
    assert_eq!(host.call("h__call", json!({})).await.text(), "done");
    sessions.forgotten.store(sessions.begun.load(Ordering::SeqCst), Ordering::SeqCst);
    sessions.most.store(0, Ordering::SeqCst);
    let text = host.call("h__call", json!({})).await.text();
    for part in ["HTTP 503", "No valid session ID provided"] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
}
