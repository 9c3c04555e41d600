//! A scripted model over HTTP: `call TOOL ARGUMENTS` calls a tool, and other texts and results are repeated.

use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};
use toolkit_serve::Addressed;
use toolkit_serve::axum::http::header::CONTENT_TYPE;
use toolkit_serve::axum::response::IntoResponse;
use toolkit_serve::axum::routing::post;
use toolkit_serve::axum::{Json, Router};

pub(crate) struct Model {
    pub(crate) url: String,
    _shutdown: DropGuard,
}

impl Model {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let router = Router::new().route("/v1/chat/completions", post(answer));
        let shutdown = CancellationToken::new();
        tokio::spawn(toolkit_serve::serve(listener, Addressed::local(router), shutdown.clone()));
        Self { url, _shutdown: shutdown.drop_guard() }
    }
}

async fn answer(Json(request): Json<Value>) -> impl IntoResponse + use<> {
    let messages = request["messages"].as_array().unwrap();
    let last = messages.last().unwrap();
    let said = text(last);
    // In a group, the name of who says it comes first.
    let called = said.strip_prefix("call ").or_else(|| Some(said.split_once(": call ")?.1));
    let called = called.and_then(|rest| rest.split_once(' '));
    let (delta, reason) = match called {
        Some((name, arguments)) if last["role"] == "user" => {
            let function = json!({ "name": name, "arguments": arguments });
            let id = format!("call-{}", messages.len());
            (calling(&id, &function), "tool_calls")
        }
        _ => {
            let of = if last["role"] == "tool" { "got" } else { "heard" };
            (json!({ "role": "assistant", "content": format!("{of}: {said}") }), "stop")
        }
    };
    events(&delta, reason)
}

/// The part of an answer that calls a function.
pub(crate) fn calling(id: &str, function: &Value) -> Value {
    let calls = json!([{ "index": 0, "id": id, "type": "function", "function": function }]);
    json!({ "role": "assistant", "tool_calls": calls })
}

/// The stream of one answer.
pub(crate) fn events(delta: &Value, reason: &str) -> impl IntoResponse + use<> {
    let chunk = |choice: Value| {
        let chunk =
            json!({ "id": "1", "object": "chat.completion.chunk", "model": "m", "choices": [choice] });
        format!("data: {chunk}\n\n")
    };
    let usage = json!({ "prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20 });
    let usage = json!({ "choices": [], "usage": usage });
    let body = chunk(json!({ "index": 0, "delta": delta }))
        + &chunk(json!({ "index": 0, "delta": {}, "finish_reason": reason }))
        + &format!("data: {usage}\n\ndata: [DONE]\n\n");
    ([(CONTENT_TYPE, "text/event-stream")], body)
}

fn text(message: &Value) -> String {
    match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}
