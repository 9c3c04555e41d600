//! Responses of OpenAI. Nothing is stored at the provider: reasoning comes encrypted, and is sent back.

mod read;

pub(crate) use read::Reader;

use crate::chat::{effort, float};
use crate::conversation::{AssistantTurn, Turn, mend_arguments, set_raw_call_ids};
use crate::message::AssistantPart;
use crate::quirks::Quirk;
use crate::request::ToolChoice;
use crate::wire::{Constraint, Draft, text};
use serde_json::{Value, json};
use toolkit::{Content, dialects::Dialect};

pub(crate) fn body(draft: &Draft<'_>) -> Result<Value, String> {
    let request = draft.request;
    let mut body = json!({"model": draft.model, "input": input(draft), "stream": true, "store": false});
    let mut set =
        |key: &str, value: Value| drop(body.as_object_mut().map(|body| body.insert(key.to_owned(), value)));
    let system = draft.system();
    if !system.is_empty() {
        set("instructions", system.into());
    }
    if !draft.quirks.has(Quirk::NoEncrypted) {
        set("include", json!(["reasoning.encrypted_content"]));
    }
    if let Some(tokens) = draft.max_tokens {
        set("max_output_tokens", tokens.into());
    }
    if let Some(temperature) = request.temperature.filter(|_| !draft.quirks.has(Quirk::NoTemperature)) {
        set("temperature", float(temperature));
    }
    if let Some(thinking) = draft.thinking.filter(|_| !draft.quirks.has(Quirk::NoThinking)) {
        let mut reasoning = json!({"effort": effort(thinking)});
        if !draft.quirks.has(Quirk::NoSummary) {
            reasoning["summary"] = "auto".into();
        }
        set("reasoning", reasoning);
    }
    match &draft.constraint {
        Some(Constraint::Schema { schema, is_strict, .. }) => {
            set(
                "text",
                json!({"format": {"type": "json_schema", "name": "answer", "schema": schema, "strict": is_strict}}),
            );
        }
        Some(Constraint::Object(_)) => set("text", json!({"format": {"type": "json_object"}})),
        Some(Constraint::Prompt(_)) | None => {}
    }
    if draft.has_tools() {
        set("tools", draft.tools.to_json());
        match &request.tool_choice {
            ToolChoice::Auto => {}
            ToolChoice::None => set("tool_choice", "none".into()),
            ToolChoice::Required => set("tool_choice", "required".into()),
            ToolChoice::Named(name) => {
                set("tool_choice", json!({"type": "function", "name": draft.named(name)?}));
            }
        }
    }
    Ok(body)
}

fn input(draft: &Draft<'_>) -> Vec<Value> {
    let mut items = Vec::new();
    for turn in draft.turns() {
        match turn {
            Turn::User(content) => {
                let content: Vec<Content> = content.into_iter().map(std::borrow::Cow::into_owned).collect();
                let content = Dialect::OpenAiResponses.render_content(&content);
                items.push(json!({"type": "message", "role": "user", "content": content}));
            }
            Turn::Assistant(turn) => items.extend(assistant(draft, &turn)),
            Turn::Results(results) => items.extend(draft.tools.render(&results)),
        }
    }
    items
}

fn assistant(draft: &Draft<'_>, turn: &AssistantTurn<'_>) -> Vec<Value> {
    let mut items = items_of(draft, turn);
    for item in items.iter_mut().filter(|item| item["type"] == "function_call") {
        mend_arguments(&mut item["arguments"]);
    }
    items
}

fn items_of(draft: &Draft<'_>, turn: &AssistantTurn<'_>) -> Vec<Value> {
    if let Some(raw) = turn.raw {
        let mut raw = raw.clone();
        if turn.has_new_ids {
            set_raw_call_ids(draft.dialect(), &mut raw, &turn.calls);
        }
        return match raw {
            Value::Array(items) => items,
            item => vec![item],
        };
    }
    let mut items = Vec::new();
    let mut calls = turn.calls.iter();
    for part in turn.content {
        match part {
            AssistantPart::Text { text } if !text.trim().is_empty() => {
                items.push(json!({"type": "message", "role": "assistant", "content": text}));
            }
            AssistantPart::ToolCall(_) => {
                items.extend(
                    calls
                        .next()
                        .into_iter()
                        .flat_map(|call| draft.tools.render_calls(std::slice::from_ref(call))),
                );
            }
            _ => {}
        }
    }
    items
}

/// Output items as they go back: whole calls, reasoning that the server can read again, images without what is only told.
pub(super) fn returned(items: impl Iterator<Item = Value>) -> Vec<Value> {
    let mut returned: Vec<Value> = items.filter_map(item).collect();
    // Reasoning without the item that it led to is refused.
    while returned.last().is_some_and(|item| item["type"] == "reasoning") {
        returned.pop();
    }
    returned
}

fn item(mut item: Value) -> Option<Value> {
    let kind = text(&item, "type").to_owned();
    let members = item.as_object_mut()?;
    match kind.as_str() {
        // The server has kept nothing that its id would lead to.
        "reasoning" if !members.get("encrypted_content").is_some_and(Value::is_string) => return None,
        "reasoning" => {
            members.retain(|key, value| key != "status" && !(key == "content" && value.is_null()));
            members.entry("summary").or_insert_with(|| json!([]));
        }
        "image_generation_call" => {
            members.retain(|key, _| ["type", "id", "result", "status"].contains(&key.as_str()));
        }
        _ => {}
    }
    Some(item)
}
