//! Messages, by Anthropic's reference ("Create a Message", "Streaming Messages") and its guides to tool use, thinking and prompt caching.

use super::{
    Faults, IMAGES, Issued, Received, Said, SaidPart, SaidStop, event, is_base64, is_name, items, pieces,
    str_of,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;

pub(crate) fn check(request: &Received, issued: &Issued, faults: &mut Faults) {
    let body = &request.body;
    faults.unless(request.path.ends_with("/v1/messages"), || format!("path {}", request.path));
    faults.unless(request.header("anthropic-version") == Some("2023-06-01"), || "version".to_owned());
    faults.unless(body["model"].is_string() && body["stream"] == true, || "model or stream".to_owned());
    faults.unless(body["max_tokens"].as_u64().is_some_and(|tokens| tokens > 0), || {
        "no limit of tokens".to_owned()
    });
    let thinks = matches!(str_of(&body["thinking"], "type"), "enabled" | "adaptive");
    if let Some(budget) = body["thinking"]["budget_tokens"].as_u64() {
        faults.unless(budget >= 1024 && Some(budget) < body["max_tokens"].as_u64(), || {
            format!("budget {budget}")
        });
    }
    faults.unless(!thinks || body["temperature"].is_null(), || "a temperature while it thinks".to_owned());
    let forces = matches!(str_of(&body["tool_choice"], "type"), "any" | "tool");
    faults.unless(!thinks || !forces, || "a call is demanded while it thinks".to_owned());
    faults.unless(body["tools"].is_null() || !items(&body["tools"]).is_empty(), || {
        "an empty list of tools".to_owned()
    });
    let mut names = BTreeSet::new();
    for tool in items(&body["tools"]) {
        let name = str_of(tool, "name");
        let is_right = is_name(name) && tool["input_schema"]["type"] == "object" && names.insert(name);
        faults.unless(is_right, || format!("tool {tool}"));
    }
    check_messages(items(&body["messages"]), thinks, issued, faults);
    let has_calls = items(&body["messages"])
        .iter()
        .flat_map(|message| items(&message["content"]))
        .any(|block| block["type"] == "tool_use");
    faults.unless(!has_calls || !items(&body["tools"]).is_empty(), || {
        "calls without definitions of tools".to_owned()
    });
}

fn check_messages(messages: &[Value], thinks: bool, issued: &Issued, faults: &mut Faults) {
    let mut ids = BTreeSet::new();
    let is_of = |place: usize, role: &str| messages.get(place).is_some_and(|message| message["role"] == role);
    faults.unless(is_of(0, "user") && is_of(messages.len().wrapping_sub(1), "user"), || {
        "the user is not first and last".to_owned()
    });
    for (place, message) in messages.iter().enumerate() {
        faults.unless(is_of(place, if place % 2 == 0 { "user" } else { "assistant" }), || {
            format!("roles do not alternate at {place}")
        });
        let blocks = items(&message["content"]);
        faults.unless(!blocks.is_empty(), || format!("message {place} is empty"));
        for block in blocks {
            check_block(block, message["role"] == "user", issued, faults);
        }
        let of_type = |blocks: &[Value], kind: &str, key: &str| -> Vec<String> {
            blocks
                .iter()
                .filter(|block| block["type"] == kind)
                .map(|block| str_of(block, key).to_owned())
                .collect()
        };
        let calls = of_type(blocks, "tool_use", "id");
        for id in &calls {
            let is_legal =
                !id.is_empty() && id.bytes().all(|c| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-'));
            faults.unless(is_legal && ids.insert(id.clone()), || format!("id `{id}`"));
        }
        // Results are the first blocks of the next message, one for each call.
        if message["role"] == "assistant" {
            let next = messages.get(place + 1).map(|next| items(&next["content"])).unwrap_or_default();
            let results = of_type(&next[..calls.len().min(next.len())], "tool_result", "tool_use_id");
            faults.unless(results == calls, || format!("calls {calls:?}, results {results:?}"));
            let all = of_type(next, "tool_result", "tool_use_id");
            faults.unless(all.len() == calls.len(), || format!("results without calls: {all:?}"));
            let last = blocks.last().map(|block| str_of(block, "type")).unwrap_or_default();
            faults.unless(!last.ends_with("thinking"), || "the message ends with a thought".to_owned());
            // Thoughts of an answer with calls come back as they were.
            let expected = calls.first().and_then(|id| issued.reasoning.get(id)).cloned().unwrap_or_default();
            let thoughts: Vec<(String, String)> = blocks
                .iter()
                .filter_map(|block| match str_of(block, "type") {
                    "thinking" => {
                        Some((str_of(block, "thinking").to_owned(), str_of(block, "signature").to_owned()))
                    }
                    "redacted_thinking" => Some((String::new(), str_of(block, "data").to_owned())),
                    _ => None,
                })
                .collect();
            faults.unless(calls.is_empty() || thoughts == expected, || {
                format!("thoughts {thoughts:?}, not {expected:?}")
            });
        } else if place == 0 {
            faults.unless(of_type(blocks, "tool_result", "tool_use_id").is_empty(), || {
                "results without calls".to_owned()
            });
        }
    }
    if thinks {
        // Within a chain of calls each message begins with a thought.
        let says = |message: &Value| {
            message["role"] == "user"
                && items(&message["content"]).iter().any(|block| block["type"] != "tool_result")
        };
        let begin = messages.iter().rposition(says).map_or(0, |place| place + 1);
        for message in messages[begin..].iter().filter(|message| message["role"] == "assistant") {
            let first = str_of(&items(&message["content"])[0], "type");
            faults.unless(first.ends_with("thinking"), || {
                format!("it thinks, and a message of the chain begins with {first}")
            });
        }
    }
}

fn check_block(block: &Value, is_users: bool, issued: &Issued, faults: &mut Faults) {
    let is_image = |block: &Value| {
        let source = &block["source"];
        source["type"] == "base64"
            && IMAGES.contains(&str_of(source, "media_type"))
            && is_base64(str_of(source, "data"))
    };
    let is_right = match (str_of(block, "type"), is_users) {
        ("text", _) => !str_of(block, "text").trim().is_empty(),
        ("image", true) => is_image(block),
        ("tool_result", true) => {
            let content = items(&block["content"]);
            !content.is_empty()
                && content
                    .iter()
                    .all(|part| part["type"] == "image" && is_image(part) || !str_of(part, "text").is_empty())
        }
        ("tool_use", false) => is_name(str_of(block, "name")) && block["input"].is_object(),
        ("thinking", false) => issued.signatures.contains(str_of(block, "signature")),
        ("redacted_thinking", false) => issued.signatures.contains(str_of(block, "data")),
        _ => false,
    };
    faults.unless(is_right, || format!("block {block}"));
}

/// Marks stand at the end of the tools, of the system prompt and of the last two messages of the user, and nowhere else.
pub(crate) fn check_marks(body: &Value, faults: &mut Faults) {
    let mut found = Vec::new();
    find(body, String::new(), &mut found);
    let mut expected = Vec::new();
    for key in ["tools", "system"] {
        if let Some(last) = items(&body[key]).len().checked_sub(1) {
            expected.push(format!("/{key}/{last}"));
        }
    }
    let messages = items(&body["messages"]);
    let users = messages.iter().enumerate().filter(|(_, message)| message["role"] == "user");
    let mut users: Vec<String> = users
        .map(|(place, message)| format!("/messages/{place}/content/{}", items(&message["content"]).len() - 1))
        .collect();
    expected.extend(users.split_off(users.len().saturating_sub(2)));
    found.sort();
    expected.sort();
    faults.unless(found == expected && found.len() <= 4, || format!("marks at {found:?}, not {expected:?}"));
}

fn find(value: &Value, at: String, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            if members.get("cache_control") == Some(&json!({"type": "ephemeral"})) {
                found.push(at.clone());
            }
            members.iter().for_each(|(key, member)| find(member, format!("{at}/{key}"), found));
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(place, item)| find(item, format!("{at}/{place}"), found));
        }
        _ => {}
    }
}

/// The events of an answer. `bytes` is the size of fragments.
pub(crate) fn events(said: &Said, bytes: usize) -> Vec<String> {
    let send = |kind: &str, mut members: Value| {
        members["type"] = kind.into();
        event(Some(kind), &members.to_string())
    };
    let (input, cached, output) = said.usage.unwrap_or((1, 0, 1));
    let usage = json!({"input_tokens": input - cached, "cache_read_input_tokens": cached, "cache_creation_input_tokens": 0, "output_tokens": 1});
    let message = json!({"id": "msg_1", "type": "message", "role": "assistant", "content": [], "model": "m", "stop_reason": null,
        "stop_sequence": null, "usage": usage});
    let mut events = vec![send("message_start", json!({"message": message})), send("ping", json!({}))];
    for (index, part) in said.parts.iter().enumerate() {
        let (block, deltas) = match part {
            SaidPart::Text(text) => {
                let deltas =
                    pieces(text, bytes).into_iter().map(|piece| json!({"type": "text_delta", "text": piece}));
                (json!({"type": "text", "text": ""}), deltas.collect())
            }
            SaidPart::Reasoning(text, signature) if text.is_empty() => {
                (json!({"type": "redacted_thinking", "data": signature}), Vec::new())
            }
            SaidPart::Reasoning(text, signature) => {
                let deltas = pieces(text, bytes)
                    .into_iter()
                    .map(|piece| json!({"type": "thinking_delta", "thinking": piece}));
                let signed = json!({"type": "signature_delta", "signature": signature});
                (
                    json!({"type": "thinking", "thinking": "", "signature": ""}),
                    deltas.chain([signed]).collect(),
                )
            }
            SaidPart::Call(id, name, arguments) => {
                let deltas = pieces(arguments, bytes)
                    .into_iter()
                    .map(|piece| json!({"type": "input_json_delta", "partial_json": piece}));
                (json!({"type": "tool_use", "id": id, "name": name, "input": {}}), deltas.collect())
            }
            // It makes none.
            SaidPart::Image(_) => continue,
        };
        events.push(send("content_block_start", json!({"index": index, "content_block": block})));
        let deltas: Vec<Value> = deltas;
        events.extend(
            deltas
                .into_iter()
                .map(|delta| send("content_block_delta", json!({"index": index, "delta": delta}))),
        );
        events.push(send("content_block_stop", json!({"index": index})));
    }
    let stop = match said.stop {
        SaidStop::Limit => "max_tokens",
        SaidStop::Filter => "refusal",
        SaidStop::End if said.has_calls() => "tool_use",
        SaidStop::End => "end_turn",
    };
    let delta =
        json!({"delta": {"stop_reason": stop, "stop_sequence": null}, "usage": {"output_tokens": output}});
    events.push(send("message_delta", delta));
    events.push(send("message_stop", json!({})));
    events
}

pub(crate) fn error() -> String {
    event(
        Some("error"),
        &json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}).to_string(),
    )
}
