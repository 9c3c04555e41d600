//! A whole gateway, with a server on loopback in place of every paid endpoint.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use toolkit::config::LoadOptions;
use toolkit_gateway::{
    Acceptance, BudgetKind, Clock, Gateway, GatewayError, GatewayOptions, MessageId, NewMessage, RunRecord,
    SessionKey, Store,
};
use toolkit_host::Host;
use toolkit_loopback::{Answer, Loopback, Request};

use crate::agents::{Ledger, in_time, until};
use crate::common::{START, target};

/// The tokens of a request, and of its answer, as the provider reports them.
const REPORTED: (u64, u64) = (6_000, 100);
/// The tokens of both.
pub(super) const TOKENS: u64 = REPORTED.0 + REPORTED.1;
/// A picture of one pixel.
const PICTURE: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

pub(super) struct Bench {
    pub(super) gateway: Gateway,
    pub(super) server: Loopback,
    pub(super) clock: Clock,
    directory: tempfile::TempDir,
    sent: AtomicUsize,
}

impl Bench {
    /// With these sections of the configuration, where `model` has settings of the model (null for none), and these answers of the model to the n-th of its requests.
    pub(super) async fn start(
        sections: Value,
        answer: impl Fn(&Request, usize) -> Answer + Send + Sync + 'static,
    ) -> Self {
        let asked = AtomicUsize::new(0);
        let server = Loopback::start(move |request| match request.path.as_str() {
            "/v1/chat/completions" => answer(request, asked.fetch_add(1, Ordering::SeqCst)),
            "/v1/images/generations" => {
                Answer::json(200, &json!({ "created": 1, "data": [{ "b64_json": PICTURE }] }))
            }
            "/v1/audio/speech" => Answer::bytes(200, wav(8_000)).with_header("content-type", "audio/wav"),
            "/v1/audio/transcriptions" => {
                let usage = json!({ "type": "tokens", "input_tokens": 40, "output_tokens": 10 });
                Answer::json(200, &json!({ "text": "Hello.", "usage": usage }))
            }
            path if path.starts_with("/search/") && path.contains("country=XX") => {
                Answer::json(422, &json!({ "error": { "detail": "no such country" } }))
            }
            path if path.starts_with("/search/") => Answer::json(200, &json!({ "web": { "results": [] } })),
            _ => Answer::bytes(200, "<p>High water is at nine.").with_header("content-type", "text/html"),
        })
        .await;
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("user")).unwrap();
        let clock = Clock::standing(START);
        write(&directory.path().join("user/toolkit.json5"), &server, &sections);
        let gateway = run(&directory, &clock).await.unwrap();
        Self { gateway, server, clock, directory, sent: AtomicUsize::new(0) }
    }

    /// Stops within a time, and starts again.
    pub(super) async fn restart(self, within: Duration) -> Self {
        let Self { gateway, server, clock, directory, sent } = self;
        in_time(gateway.stop(within)).await.unwrap();
        let gateway = run(&directory, &clock).await.unwrap();
        Self { gateway, server, clock, directory, sent }
    }

    /// Changes the sections of the configuration.
    pub(super) fn configure(&self, sections: &Value) {
        write(&self.directory.path().join("user/toolkit.json5"), &self.server, sections);
    }

    pub(super) fn store(&self) -> &Store {
        self.gateway.state().store()
    }

    /// Sends a message of a person to a session of theirs.
    pub(super) async fn send(&self, session: &SessionKey, person: &str, text: &str) -> MessageId {
        let id = self.sent.fetch_add(1, Ordering::SeqCst).to_string();
        let message = NewMessage::new("test", id, session.clone(), json!({ "text": text }))
            .with_person(person)
            .with_sender(person)
            .with_reply_to(target(person));
        match self.gateway.state().sessions().send(message).await.unwrap() {
            Acceptance::Accepted { id } => id,
            other => panic!("{other:?}"),
        }
    }

    /// Waits until the run of a message has ended, and returns it.
    pub(super) async fn ended(&self, id: MessageId) -> RunRecord {
        let run = async || {
            let run = self.store().message(id).await.unwrap().unwrap().run?;
            self.store().run(&run).await.unwrap().filter(|run| run.ended_at.is_some())
        };
        until(self.store(), || async { run().await.is_some() }).await;
        run().await.unwrap()
    }

    /// The requests that the model answered.
    pub(super) fn asked(&self) -> u64 {
        self.requests_to("/v1/chat/completions")
    }

    pub(super) fn requests_to(&self, path: &str) -> u64 {
        self.server.requests().iter().filter(|request| request.path.starts_with(path)).count() as u64
    }

    /// The tokens, the cost and the requests of an account in the month, of which none is open.
    pub(super) async fn used(&self, kind: BudgetKind, name: &str) -> (u64, f64, u32) {
        let used = super::of(self.store(), kind, name).await.month;
        assert_eq!((used.reserved_tokens, used.reserved_cost), (0, 0.0), "{kind:?} {name}");
        (used.tokens, used.cost, used.requests)
    }
}

fn write(file: &Path, server: &Loopback, sections: &Value) {
    let url = format!("{}/v1", server.url());
    let price = json!({ "input": 1.0, "output": 1.0 });
    let paid = |price: Value| json!({ "providers": [{ "baseUrl": url, "model": "p", "price": price }] });
    let mut configuration = json!({
        "models": { "local": { "baseUrl": url, "model": "m", "maxTokens": 100, "price": price } },
        "tools": {
            "web": {
                "network": { "allowedRanges": ["127.0.0.0/8"] },
                "search": {
                    "provider": "brave", "baseUrl": format!("{}/search", server.url()), "apiKey": "k", "price": 0.25, "cacheMinutes": 0,
                },
            },
            "image": paid(json!({ "image": 0.5 })),
            "tts": paid(json!({ "characters": 1_000_000.0 })),
            "transcribe": paid(price.clone()),
            "alsoAllow": ["llm_task"],
        },
        "permission": {
            "llm_task": "allow", "image": "allow", "tts": "allow", "transcribe": "allow", "edit": "allow", "web_fetch": "allow",
        },
        "loopGuard": { "tell": 1_000, "ask": 1_000, "block": 1_000 },
    });
    let mut sections = sections.clone();
    let model = sections.as_object_mut().unwrap().remove("model").unwrap_or_else(|| json!({}));
    let of_model = configuration["models"]["local"].as_object_mut().unwrap();
    of_model.extend(model.as_object().unwrap().clone());
    of_model.retain(|_, value| !value.is_null());
    configuration.as_object_mut().unwrap().extend(sections.as_object().unwrap().clone());
    std::fs::write(file, configuration.to_string()).unwrap();
}

async fn run(directory: &tempfile::TempDir, clock: &Clock) -> Result<Gateway, GatewayError> {
    let load = LoadOptions::new()
        .user_file(directory.path().join("user/toolkit.json5"))
        .data_dir(directory.path().join("data"));
    let options = GatewayOptions::new().address("127.0.0.1:0".parse::<std::net::SocketAddr>().unwrap());
    // The linked tools of `agents` need it; those of other tests lack their services.
    let ledger = Ledger::new(directory.path());
    let host = |load| {
        Host::builder(load).with_toolkit(|toolkit| toolkit.leave_out_incomplete().shared_service(ledger))
    };
    Gateway::start(load, host, options.clock(clock.clone())).await
}

/// An answer of Chat Completions with its usage.
fn chunks(delta: &Value, reason: &str) -> Answer {
    chunks_with_usage(delta, reason, &json!({ "prompt_tokens": REPORTED.0, "completion_tokens": REPORTED.1 }))
}

fn chunks_with_usage(delta: &Value, reason: &str, usage: &Value) -> Answer {
    let chunk = |choices: Value, usage: Value| {
        let chunk = json!({ "id": "1", "object": "chat.completion.chunk", "model": "m", "choices": choices, "usage": usage });
        format!("data: {chunk}\n\n")
    };
    let body = chunk(json!([{ "index": 0, "delta": delta }]), Value::Null)
        + &chunk(json!([{ "index": 0, "delta": {}, "finish_reason": reason }]), Value::Null)
        + &chunk(json!([]), usage.clone())
        + "data: [DONE]\n\n";
    Answer::bytes(200, body).with_header("content-type", "text/event-stream")
}

pub(super) fn text(text: &str) -> Answer {
    chunks(&json!({ "role": "assistant", "content": text }), "stop")
}

pub(super) fn call(number: usize, name: &str, arguments: &Value) -> Answer {
    chunks(&calling(number, name, arguments), "tool_calls")
}

/// A call with the usage that the provider reports.
pub(super) fn call_with_usage(number: usize, name: &str, arguments: &Value, usage: &Value) -> Answer {
    chunks_with_usage(&calling(number, name, arguments), "tool_calls", usage)
}

fn calling(number: usize, name: &str, arguments: &Value) -> Value {
    let function = json!({ "name": name, "arguments": arguments.to_string() });
    let call =
        json!({ "index": 0, "id": format!("call-{number}"), "type": "function", "function": function });
    json!({ "role": "assistant", "tool_calls": [call] })
}

/// Returns true if a request has tools: it is of an agent, and not of a tool that asks the model.
pub(super) fn is_of_agent(request: &Request) -> bool {
    request.json().get("tools").is_some()
}

/// The last message of a request.
pub(super) fn last_message(request: &Request) -> Value {
    request.json()["messages"].as_array().unwrap().last().unwrap().clone()
}

fn wav(frames: usize) -> Vec<u8> {
    let size = u32::try_from(frames * 2).unwrap();
    let mut file = b"RIFF".to_vec();
    file.extend_from_slice(&(36 + size).to_le_bytes());
    file.extend_from_slice(b"WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x80\x3e\0\0\x02\0\x10\0data");
    file.extend_from_slice(&size.to_le_bytes());
    file.extend(std::iter::repeat_n(0_u8, frames * 2));
    file
}
