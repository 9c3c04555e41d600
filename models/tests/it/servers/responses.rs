//! Responses, by OpenAI's reference ("Create a model response", "Streaming events") and its guide to reasoning ("Encrypted reasoning items").

use super::{
    Faults, IMAGES, Issued, Received, Said, SaidPart, SaidStop, event, is_data_url, is_name, is_object,
    items, pieces, str_of,
};
use serde_json::{Value, json};
use std::collections::BTreeSet;

pub(crate) fn check(request: &Received, issued: &Issued, faults: &mut Faults) {
    let body = &request.body;
    faults.unless(request.path.ends_with("/responses"), || format!("path {}", request.path));
    faults.unless(body["model"].is_string() && body["stream"] == true, || "model or stream".to_owned());
    faults.unless(body["store"] == false, || "what is sent would be stored".to_owned());
    faults.unless(body["include"] == json!(["reasoning.encrypted_content"]), || {
        "reasoning would be lost".to_owned()
    });
    faults.unless(body["messages"].is_null(), || "messages".to_owned());
    faults.unless(body["tools"].is_null() || !items(&body["tools"]).is_empty(), || {
        "an empty list of tools".to_owned()
    });
    for tool in items(&body["tools"]) {
        faults.unless(tool["type"] == "function" && is_name(str_of(tool, "name")), || format!("tool {tool}"));
    }
    let input = items(&body["input"]);
    let last = input.last().unwrap_or(&Value::Null);
    faults.unless(last["role"] == "user" || last["type"] == "function_call_output", || {
        format!("the last item is {last}")
    });
    let mut called = BTreeSet::new();
    let mut answered = BTreeSet::new();
    let mut reasoning: BTreeSet<String> = BTreeSet::new();
    for (place, item) in input.iter().enumerate() {
        let next = input.get(place + 1).unwrap_or(&Value::Null);
        match str_of(item, "type") {
            "message" if item["role"] == "user" => {
                faults.unless(called == answered, || {
                    format!("calls {called:?}, results {answered:?} before {item}")
                });
                faults.unless(!items(&item["content"]).is_empty(), || "an empty message".to_owned());
                for part in items(&item["content"]) {
                    let is_right = match str_of(part, "type") {
                        "input_text" => !str_of(part, "text").is_empty(),
                        "input_image" => {
                            is_data_url(str_of(part, "image_url"), &IMAGES) && part["detail"] == "auto"
                        }
                        _ => false,
                    };
                    faults.unless(is_right, || format!("part {part}"));
                }
            }
            "message" => {
                let is_own = items(&item["content"])
                    .iter()
                    .all(|part| part["type"] == "output_text" && !str_of(part, "text").is_empty());
                let is_text = item["content"].as_str().is_some_and(|text| !text.is_empty());
                let has_items = !items(&item["content"]).is_empty() && is_own;
                faults.unless(item["role"] == "assistant" && (is_text || has_items), || {
                    format!("message {item}")
                });
                faults.unless(called == answered, || format!("calls without results before {item}"));
            }
            "reasoning" => {
                let content = str_of(item, "encrypted_content");
                faults.unless(issued.signatures.contains(content), || format!("reasoning {item} of nobody"));
                faults.unless(!str_of(item, "id").is_empty() && item["summary"].is_array(), || {
                    format!("reasoning {item}")
                });
                faults.unless(item["status"].is_null(), || format!("the status of {item}"));
                let is_followed =
                    matches!(str_of(next, "type"), "function_call" | "reasoning" | "image_generation_call")
                        || next["role"] == "assistant";
                faults.unless(is_followed, || format!("reasoning is followed by {next}"));
                reasoning.insert(content.to_owned());
            }
            "function_call" => {
                let id = str_of(item, "call_id");
                faults.unless(!id.is_empty() && called.insert(id.to_owned()), || format!("id of {item}"));
                faults.unless(is_name(str_of(item, "name")) && is_object(&item["arguments"]), || {
                    format!("call {item}")
                });
                for (_, signature) in issued.reasoning.get(id).into_iter().flatten() {
                    faults.unless(reasoning.contains(signature), || format!("`{id}` without its reasoning"));
                }
            }
            "function_call_output" => {
                let id = str_of(item, "call_id");
                faults.unless(called.contains(id) && answered.insert(id.to_owned()), || {
                    format!("result {item}")
                });
                let is_right = match &item["output"] {
                    Value::String(text) => !text.is_empty(),
                    output => !items(output).is_empty(),
                };
                faults.unless(is_right, || format!("output of {item}"));
            }
            "image_generation_call" => faults
                .unless(item["result"].is_string() && item["id"].is_string(), || format!("image {item}")),
            _ => faults.unless(false, || format!("item {item}")),
        }
    }
    faults.unless(called == answered, || format!("calls {called:?}, results {answered:?}"));
}

/// The events of an answer. `bytes` is the size of fragments.
#[expect(clippy::too_many_lines, reason = "one arm for each kind of item")]
pub(crate) fn events(said: &Said, bytes: usize) -> Vec<String> {
    let mut number = 0;
    let mut send = |kind: &str, mut members: Value| {
        members["type"] = kind.into();
        members["sequence_number"] = number.into();
        number += 1;
        event(Some(kind), &members.to_string())
    };
    let response = |status: &str, output: &[Value], usage: Value, details: Value| {
        json!({"id": "resp_1", "object": "response", "status": status, "output": output, "usage": usage, "incomplete_details": details,
            "error": null, "model": "m"})
    };
    let mut events = vec![send(
        "response.created",
        json!({"response": response("in_progress", &[], Value::Null, Value::Null)}),
    )];
    let mut output = Vec::new();
    let last = said.parts.len().saturating_sub(1);
    for (place, part) in said.parts.iter().enumerate() {
        let is_cut = place == last && said.stop == SaidStop::Limit;
        let status = if is_cut { "incomplete" } else { "completed" };
        let id = format!("item_{place}");
        match part {
            SaidPart::Text(text) => {
                let item = |text: &str, status: &str| {
                    json!({"type": "message", "id": id, "role": "assistant", "status": status,
                        "content": if text.is_empty() { json!([]) } else { json!([{"type": "output_text", "text": text, "annotations": []}]) }})
                };
                events.push(send(
                    "response.output_item.added",
                    json!({"output_index": place, "item": item("", "in_progress")}),
                ));
                for piece in pieces(text, bytes) {
                    let delta =
                        json!({"output_index": place, "item_id": id, "content_index": 0, "delta": piece});
                    events.push(send("response.output_text.delta", delta));
                }
                events.push(send(
                    "response.output_item.done",
                    json!({"output_index": place, "item": item(text, status)}),
                ));
                output.push(item(text, status));
            }
            SaidPart::Reasoning(text, signature) => {
                let item = |text: &str, content: &str| {
                    json!({"type": "reasoning", "id": id, "status": null, "encrypted_content": content,
                        "summary": [{"type": "summary_text", "text": text}]})
                };
                events.push(send(
                    "response.output_item.added",
                    json!({"output_index": place, "item": item("", "unfinished")}),
                ));
                for piece in pieces(text, bytes) {
                    let delta =
                        json!({"output_index": place, "item_id": id, "summary_index": 0, "delta": piece});
                    events.push(send("response.reasoning_summary_text.delta", delta));
                }
                events.push(send(
                    "response.output_item.done",
                    json!({"output_index": place, "item": item(text, signature)}),
                ));
                output.push(item(text, signature));
            }
            SaidPart::Image(data) => {
                let item = json!({"type": "image_generation_call", "id": id, "status": "completed", "result": data, "output_format": "png",
                    "revised_prompt": "a dot"});
                events.push(send("response.output_item.done", json!({"output_index": place, "item": item})));
                output.push(item);
            }
            SaidPart::Call(call_id, name, arguments) => {
                let item = |arguments: &str, status: &str| json!({"type": "function_call", "id": id, "call_id": call_id, "name": name, "arguments": arguments, "status": status});
                events.push(send(
                    "response.output_item.added",
                    json!({"output_index": place, "item": item("", "in_progress")}),
                ));
                for piece in pieces(arguments, bytes) {
                    let delta = json!({"output_index": place, "item_id": id, "delta": piece});
                    events.push(send("response.function_call_arguments.delta", delta));
                }
                if !is_cut {
                    let done = json!({"output_index": place, "item_id": id, "arguments": arguments});
                    events.push(send("response.function_call_arguments.done", done));
                }
                events.push(send(
                    "response.output_item.done",
                    json!({"output_index": place, "item": item(arguments, status)}),
                ));
                output.push(item(arguments, status));
            }
        }
    }
    let usage = said.usage.map_or(Value::Null, |(input, cached, output)| {
        json!({"input_tokens": input, "input_tokens_details": {"cached_tokens": cached, "cache_write_tokens": 0}, "output_tokens": output,
            "output_tokens_details": {"reasoning_tokens": 1}, "total_tokens": input + output})
    });
    let (kind, status, details) = match said.stop {
        SaidStop::End => ("response.completed", "completed", Value::Null),
        SaidStop::Limit => ("response.incomplete", "incomplete", json!({"reason": "max_output_tokens"})),
        SaidStop::Filter => ("response.incomplete", "incomplete", json!({"reason": "content_filter"})),
    };
    events.push(send(kind, json!({"response": response(status, &output, usage, details)})));
    events
}

pub(crate) fn error() -> String {
    let error = json!({"code": "server_error", "message": "The server had an error"});
    let failed =
        json!({"type": "response.failed", "response": {"id": "resp_1", "status": "failed", "error": error}});
    event(Some("response.failed"), &failed.to_string())
}
