//! A scripted model over HTTP, which outlives the gateway and repeats the id of each message.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use toolkit_gateway::{Clock, Moment, Zone};
use toolkit_serve::Addressed;
use toolkit_serve::axum::extract::State;
use toolkit_serve::axum::http::header::CONTENT_TYPE;
use toolkit_serve::axum::response::IntoResponse;
use toolkit_serve::axum::routing::post;
use toolkit_serve::axum::{Json, Router};

use super::random::Random;

/// The kinds of messages.
const KINDS: [&str; 3] = ["effect", "plain", "cron"];
/// The words of the request for a summary.
const SUMMARISE: &str = "has to be shortened";

pub(super) struct Model {
    pub(super) url: String,
    script: Arc<Script>,
    _shutdown: tokio_util::sync::DropGuard,
}

struct Script {
    random: Mutex<Random>,
    faults: Mutex<BTreeSet<String>>,
}

impl Model {
    pub(super) async fn start(random: Random) -> Self {
        let script = Arc::new(Script { random: Mutex::new(random), faults: Mutex::default() });
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/v1", listener.local_addr().unwrap());
        let router =
            Router::new().route("/v1/chat/completions", post(answer)).with_state(Arc::clone(&script));
        let shutdown = CancellationToken::new();
        tokio::spawn(toolkit_serve::serve(listener, Addressed::local(router), shutdown.clone()));
        Self { url, script, _shutdown: shutdown.drop_guard() }
    }

    /// The faults of requests: messages that they have twice.
    pub(super) fn faults(&self) -> BTreeSet<String> {
        self.script.faults.lock().unwrap().clone()
    }
}

async fn answer(State(script): State<Arc<Script>>, Json(request): Json<Value>) -> impl IntoResponse {
    let pause = script.random.lock().unwrap().millis(60);
    tokio::time::sleep(pause).await;
    let messages = request["messages"].as_array().unwrap();
    script.faults.lock().unwrap().extend(repeated(messages));
    let (delta, reason) = match next(messages) {
        Next::Text(text) => (json!({ "role": "assistant", "content": text }), "stop"),
        Next::Call(id, name, arguments) => {
            let function = json!({ "name": name, "arguments": arguments.to_string() });
            let calls = json!([{ "index": 0, "id": id, "type": "function", "function": function }]);
            (json!({ "role": "assistant", "tool_calls": calls }), "tool_calls")
        }
    };
    let chunk = |choice: Value| {
        format!(
            "data: {}\n\n",
            json!({ "id": "1", "object": "chat.completion.chunk", "model": "m", "choices": [choice] })
        )
    };
    let usage = json!({ "choices": [], "usage": { "prompt_tokens": request.to_string().len() / 4, "completion_tokens": 10, "total_tokens": 10 } });
    let body = chunk(json!({ "index": 0, "delta": delta }))
        + &chunk(json!({ "index": 0, "delta": {}, "finish_reason": reason }))
        + &format!("data: {usage}\n\ndata: [DONE]\n\n");
    ([(CONTENT_TYPE, "text/event-stream")], body)
}

enum Next {
    Text(String),
    Call(String, &'static str, Value),
}

/// One call for the first message of a run, by its kind; then an answer that names its messages and the results of its calls.
fn next(messages: &[Value]) -> Next {
    let last = messages.last().unwrap();
    if last["role"] == "user" && text(last).contains(SUMMARISE) {
        return Next::Text("What was before.".to_owned());
    }
    let is_answer = |message: &Value| message["role"] == "assistant" && message["tool_calls"].is_null();
    let since = messages.iter().rposition(is_answer).map_or(0, |at| at + 1);
    let messages = &messages[since..];
    let asked: Vec<(&str, String)> =
        messages.iter().filter(|message| message["role"] == "user").flat_map(asked).collect();
    if let ([(kind, id)], "user") = (&asked[..], last["role"].as_str().unwrap()) {
        let call = |name, arguments| Next::Call(format!("call-{id}"), name, arguments);
        match *kind {
            "effect" => return call("kill_effect", json!({ "id": id })),
            "cron" => {
                let at = Moment(Clock::system().now().0 / 1_000 * 1_000).after(Duration::from_secs(3));
                let at = Zone::utc().show(at).unwrap();
                return call("cron", json!({ "action": "add", "at": at, "prompt": format!("plain f-{id}") }));
            }
            _ => {}
        }
    }
    let ids: Vec<String> = asked.into_iter().map(|(_, id)| format!("[{id}]")).collect();
    let results = messages.iter().filter(|message| message["role"] == "tool").map(text);
    Next::Text(format!("answer to {}\n{}", ids.join(" "), results.collect::<Vec<_>>().join("\n")))
}

/// The kinds and ids of the messages in a text.
fn asked(message: &Value) -> Vec<(&'static str, String)> {
    let text = text(message);
    let words: Vec<&str> = text.split_whitespace().collect();
    let pairs = words.windows(2).filter_map(|pair| {
        let kind = KINDS.into_iter().find(|kind| *kind == pair[0])?;
        Some((kind, pair[1].to_owned()))
    });
    pairs.collect()
}

/// Messages that are twice in a conversation, which only those of the job that goes on may be.
fn repeated(messages: &[Value]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let ids = messages.iter().filter(|message| message["role"] == "user").flat_map(asked);
    let twice = ids.filter(|(_, id)| !id.starts_with('j')).filter(|(_, id)| !seen.insert(id.clone()));
    twice.map(|(_, id)| format!("{id} is twice in a conversation")).collect()
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
