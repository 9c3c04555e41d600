//! Chat Completions, by OpenAI's reference ("Create chat completion", "Streaming events"), with `reasoning_content` as the guide of `DeepSeek`
//! "Thinking mode" has it.

use super::{
    Faults, IMAGES, Issued, Received, Said, SaidPart, SaidStop, event, is_data_url, is_name, is_object,
    items, pieces, str_of,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;

pub(crate) fn check(request: &Received, issued: &Issued, faults: &mut Faults) {
    let body = &request.body;
    faults.unless(request.path.ends_with("/chat/completions"), || format!("path {}", request.path));
    faults.unless(body["model"].is_string() && body["stream"] == true, || "model or stream".to_owned());
    faults.unless(body["stream_options"]["include_usage"] == true, || "usage is not asked for".to_owned());
    check_tools(&body["tools"], faults);
    let messages = items(&body["messages"]);
    let role = |place: usize| messages.get(place).map(|message| str_of(message, "role")).unwrap_or_default();
    faults.unless(matches!(role(messages.len().wrapping_sub(1)), "user" | "tool"), || {
        "the last turn is not the user's".to_owned()
    });
    let mut ids = BTreeSet::new();
    let mut place = 0;
    while place < messages.len() {
        let message = &messages[place];
        match role(place) {
            "system" => faults.unless(place == 0 && !str_of(message, "content").is_empty(), || {
                "a system message within".to_owned()
            }),
            "user" => {
                faults.unless(role(place + 1) != "user", || "two messages of the user".to_owned());
                check_user(&message["content"], faults);
            }
            "assistant" => {
                let calls = items(&message["tool_calls"]);
                let has_text = message["content"].as_str().is_some_and(|text| !text.is_empty());
                faults
                    .unless(has_text || !calls.is_empty(), || "an empty message of the assistant".to_owned());
                faults.unless(message["tool_calls"].is_null() || !calls.is_empty(), || {
                    "an empty list of calls".to_owned()
                });
                faults.unless(role(place + 1) != "assistant", || "two messages of the assistant".to_owned());
                for (offset, call) in calls.iter().enumerate() {
                    let id = str_of(call, "id");
                    faults.unless(!id.is_empty() && ids.insert(id.to_owned()), || format!("id `{id}`"));
                    faults.unless(
                        call["type"] == "function" && is_name(str_of(&call["function"], "name")),
                        || format!("call {call}"),
                    );
                    // As llama.cpp and vLLM read them.
                    faults
                        .unless(is_object(&call["function"]["arguments"]), || format!("arguments of {call}"));
                    let result = messages.get(place + 1 + offset).unwrap_or(&Value::Null);
                    faults.unless(result["role"] == "tool" && str_of(result, "tool_call_id") == id, || {
                        format!("`{id}` is followed by {result}")
                    });
                    faults.unless(result["content"].as_str().is_some_and(|text| !text.is_empty()), || {
                        format!("content of {result}")
                    });
                }
                let reasoning = calls.first().and_then(|call| issued.reasoning.get(str_of(call, "id")));
                let expected: String =
                    reasoning.into_iter().flatten().map(|(text, _)| text.as_str()).collect();
                faults.unless(str_of(message, "reasoning_content") == expected, || {
                    format!("reasoning of {message}, not {expected}")
                });
                place += calls.len();
            }
            // Those that belong to calls were looked at with them.
            other => faults.unless(false, || format!("a message of `{other}` on its own")),
        }
        place += 1;
    }
}

fn check_tools(tools: &Value, faults: &mut Faults) {
    faults.unless(tools.is_null() || !items(tools).is_empty(), || "an empty list of tools".to_owned());
    let mut names = BTreeSet::new();
    for tool in items(tools) {
        let name = str_of(&tool["function"], "name");
        faults.unless(tool["type"] == "function" && is_name(name) && names.insert(name), || {
            format!("tool {tool}")
        });
    }
}

fn check_user(content: &Value, faults: &mut Faults) {
    match content {
        Value::String(text) => faults.unless(!text.is_empty(), || "an empty message of the user".to_owned()),
        Value::Array(parts) => {
            faults.unless(!parts.is_empty(), || "no parts".to_owned());
            for part in parts {
                let is_right = match str_of(part, "type") {
                    "text" => !str_of(part, "text").is_empty(),
                    "image_url" => is_data_url(str_of(&part["image_url"], "url"), &IMAGES),
                    _ => false,
                };
                faults.unless(is_right, || format!("part {part}"));
            }
        }
        other => faults.unless(false, || format!("content {other}")),
    }
}

/// The events of an answer. `bytes` is the size of fragments.
pub(crate) fn events(said: &Said, bytes: usize) -> Vec<String> {
    let chunk = |delta: Value, finish: Value| {
        let choices = json!([{"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish}]);
        let chunk = json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": choices, "usage": null});
        event(None, &chunk.to_string())
    };
    let mut events = vec![chunk(json!({"role": "assistant", "content": ""}), Value::Null)];
    let mut index = 0;
    for part in &said.parts {
        match part {
            SaidPart::Text(text) => {
                events.extend(
                    pieces(text, bytes).iter().map(|piece| chunk(json!({"content": piece}), Value::Null)),
                );
            }
            SaidPart::Reasoning(text, _) => {
                events.extend(
                    pieces(text, bytes)
                        .iter()
                        .map(|piece| chunk(json!({"reasoning_content": piece}), Value::Null)),
                );
            }
            SaidPart::Image(data) => {
                let url = format!("data:image/png;base64,{data}");
                let images = json!([{"type": "image_url", "image_url": {"url": url}}]);
                events.push(chunk(json!({"images": images}), Value::Null));
            }
            SaidPart::Call(id, name, arguments) => {
                let first = json!({"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": ""}});
                events.push(chunk(json!({"tool_calls": [first]}), Value::Null));
                events.extend(pieces(arguments, bytes).iter().map(|piece| {
                    chunk(
                        json!({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}),
                        Value::Null,
                    )
                }));
                index += 1;
            }
        }
    }
    let finish = match said.stop {
        SaidStop::Limit => "length",
        SaidStop::Filter => "content_filter",
        SaidStop::End if said.has_calls() => "tool_calls",
        SaidStop::End => "stop",
    };
    events.push(chunk(json!({}), finish.into()));
    if let Some((input, cached, output)) = said.usage {
        let usage = json!({"prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output,
            "prompt_tokens_details": {"cached_tokens": cached}, "completion_tokens_details": {"reasoning_tokens": 1}});
        events.push(event(
            None,
            &json!({"object": "chat.completion.chunk", "choices": [], "usage": usage}).to_string(),
        ));
    }
    events.push(event(None, "[DONE]"));
    events
}

pub(crate) fn error() -> String {
    event(None, &json!({"error": {"message": "The server had an error", "type": "server_error", "param": null, "code": null}}).to_string())
}
