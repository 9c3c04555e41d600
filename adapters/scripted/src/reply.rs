//! The model's reply in one turn, whole or in fragments.

use serde_json::{Value, json};
use std::fmt::Write as _;

/// The model's reply in one turn.
#[derive(Debug, Clone)]
pub enum Turn {
    /// It answers.
    Says(&'static str),
    /// It calls tools.
    Calls(Vec<Call>),
}

/// A call that the model makes: its id, the tool, the text of its arguments.
pub type Call = (&'static str, &'static str, &'static str);

impl Turn {
    /// As one completion.
    pub(crate) fn whole(&self, number: usize) -> Value {
        let (message, reason) = match self {
            Self::Says(text) => (json!({"role": "assistant", "content": text}), "stop"),
            Self::Calls(calls) => {
                let calls: Vec<Value> = calls
                    .iter()
                    .map(|(id, name, arguments)| {
                        json!({"id": id, "type": "function", "function": {"name": name, "arguments": arguments}})
                    })
                    .collect();
                (json!({"role": "assistant", "content": null, "tool_calls": calls}), "tool_calls")
            }
        };
        json!({
            "id": format!("chatcmpl-{number}"),
            "object": "chat.completion",
            "created": 1,
            "model": "scripted",
            "choices": [{"index": 0, "message": message, "logprobs": null, "finish_reason": reason}],
            "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
        })
    }

    /// As events: of a call first its name, then its arguments in pieces, the calls one after the other.
    pub(crate) fn streamed(&self, number: usize) -> String {
        let mut deltas = vec![json!({"role": "assistant", "content": null})];
        let reason = match self {
            Self::Says(text) => {
                deltas.extend(pieces(text).map(|piece| json!({"content": piece})));
                "stop"
            }
            Self::Calls(calls) => {
                for (index, (id, name, arguments)) in calls.iter().enumerate() {
                    let function = json!({"name": name, "arguments": ""});
                    let call = json!({"index": index, "id": id, "type": "function", "function": function});
                    deltas.push(json!({"tool_calls": [call]}));
                    deltas.extend(pieces(arguments).map(
                        |piece| json!({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}),
                    ));
                }
                "tool_calls"
            }
        };
        let mut events = String::new();
        let mut tell = |delta: Value, reason: Option<&str>| {
            let chunk = json!({
                "id": format!("chatcmpl-{number}"),
                "object": "chat.completion.chunk",
                "created": 1,
                "model": "scripted",
                "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
            });
            let _ = write!(events, "data: {chunk}\n\n");
        };
        for delta in deltas {
            tell(delta, None);
        }
        tell(json!({}), Some(reason));
        events.push_str("data: [DONE]\n\n");
        events
    }
}

/// A text in pieces of five characters.
fn pieces(text: &str) -> impl Iterator<Item = String> {
    let characters: Vec<char> = text.chars().collect();
    let pieces: Vec<String> = characters.chunks(5).map(|piece| piece.iter().collect()).collect();
    pieces.into_iter()
}
