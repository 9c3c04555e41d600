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

/// The kinds of messages, and how many of twenty are of each. A poll is for Telegram alone.
const KINDS: [(&str, u64); 6] =
    [("effect", 9), ("plain", 6), ("cron", 1), ("spawn", 2), ("send", 2), ("poll", 0)];
/// The beginning of the result of a sub-agent.
const RESULT: [&str; 4] = ["Result", "of", "the", "sub-agent"];
/// The words of the request for a summary.
const SUMMARISE: &str = "has to be shortened";

/// The kind of a new message.
pub(super) fn kind(random: &mut Random) -> &'static str {
    let mut left = random.below(KINDS.iter().map(|(_, share)| share).sum());
    for (kind, share) in KINDS {
        match left.checked_sub(share) {
            Some(rest) => left = rest,
            None => return kind,
        }
    }
    unreachable!("the number is below the sum of the shares")
}

/// The id of the last message in a text; none for the failure of a sub-agent.
pub(super) fn id_of(text: &str) -> Option<String> {
    asked(text).pop().map(|(_, id)| id)
}

/// The messages in a text, by kind and id: those that follow each other are one of the user. The result of a sub-agent has the id of its message.
fn asked(text: &str) -> Vec<(&'static str, String)> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut found = Vec::new();
    let mut is_result = false;
    for (at, word) in words.iter().enumerate() {
        is_result |= words[..=at].ends_with(&RESULT);
        let bare = word.trim_matches(['[', ']']);
        if !is_id(bare) {
            continue;
        }
        let kind = at.checked_sub(1).map_or("", |before| words[before]);
        if is_result && word.starts_with('[') {
            found.push(("result", format!("r-{bare}")));
            is_result = false;
        } else if let Some((kind, _)) = KINDS.into_iter().find(|(name, _)| *name == kind) {
            found.push((kind, bare.to_owned()));
        }
    }
    found
}

fn is_id(word: &str) -> bool {
    word.rsplit_once('-').is_some_and(|(_, number)| number.len() == 5 && number.parse::<u32>().is_ok())
}

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
    let (before, messages) = messages.split_at(since);
    let asked: Vec<_> = messages
        .iter()
        .filter(|message| message["role"] == "user")
        .flat_map(|message| asked(&text(message)))
        .collect();
    if let ([(kind, id)], "user") = (&asked[..], last["role"].as_str().unwrap()) {
        let call = |name, arguments| Next::Call(format!("call-{id}"), name, arguments);
        match *kind {
            "effect" => return call("kill_effect", json!({ "id": id })),
            "cron" => {
                let at = Moment(Clock::system().now().0 / 1_000 * 1_000).after(Duration::from_secs(3));
                let at = Zone::utc().show(at).unwrap();
                return call("cron", json!({ "action": "add", "at": at, "prompt": format!("plain f-{id}") }));
            }
            "spawn" => return call("sessions_spawn", json!({ "prompt": format!("effect s-{id}") })),
            "poll" => {
                let poll = json!({ "question": format!("Is it {id}?"), "options": ["Yes", "No"] });
                return call("telegram_send_poll", poll);
            }
            "send" => {
                if let Some(session) = sub_agent(before) {
                    let timeout = if id.ends_with(['1', '3', '5', '7', '9']) { 2 } else { 0 };
                    let message = format!("plain t-{id}");
                    let to = json!({ "sessionKey": session, "message": message, "timeoutSeconds": timeout });
                    return call("sessions_send", to);
                }
            }
            _ => {}
        }
    }
    let ids: Vec<String> = asked.into_iter().map(|(_, id)| format!("[{id}]")).collect();
    let results = messages.iter().filter(|message| message["role"] == "tool").map(text);
    // Whoever reads the answer finds the ids of its own messages in it, and those of no others.
    let results = results.map(|text| text.replace(['[', ']'], "|"));
    Next::Text(format!("answer to {}\n{}", ids.join(" "), results.collect::<Vec<_>>().join("\n")))
}

/// The sub-agent that was begun last in a conversation.
fn sub_agent(messages: &[Value]) -> Option<String> {
    messages.iter().filter(|message| message["role"] == "tool").rev().find_map(|message| {
        let result: Value = serde_json::from_str(&text(message)).ok()?;
        Some(result.get("sessionKey")?.as_str().filter(|key| key.contains(":sub:"))?.to_owned())
    })
}

/// Messages that are twice in a conversation, which only those of the job that goes on may be.
fn repeated(messages: &[Value]) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let texts = messages.iter().filter(|message| message["role"] == "user").map(text);
    let ids = texts.flat_map(|text| asked(&text)).filter(|(_, id)| !id.starts_with('j'));
    let twice = ids.filter(|(_, id)| !seen.insert(id.clone()));
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
