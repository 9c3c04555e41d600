//! Chat Completions of OpenAI, and of the many servers that speak like it.

mod read;

pub(crate) use read::Reader;

use crate::conversation::{AssistantTurn, Turn, mend_arguments, set_raw_call_ids};
use crate::quirks::Quirk;
use crate::request::{Thinking, ToolChoice};
use crate::wire::{Constraint, Draft};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use toolkit::{Content, dialects::Dialect};

/// The members of a message that hold reasoning and go back to the server in the messages that call tools: `DeepSeek` and others refuse
/// such a message without it, and refuse or ignore it in others.
pub(super) const REASONING: [&str; 3] = ["reasoning_content", "reasoning", "reasoning_details"];

pub(crate) fn body(draft: &Draft<'_>) -> Result<Value, String> {
    let request = draft.request;
    let mut body = json!({"model": draft.model, "messages": messages(draft), "stream": true});
    let mut set =
        |key: &str, value: Value| drop(body.as_object_mut().map(|body| body.insert(key.to_owned(), value)));
    if !draft.quirks.has(Quirk::NoStreamOptions) {
        set("stream_options", json!({"include_usage": true}));
    }
    if let Some(tokens) = draft.max_tokens {
        let is_new = draft.is_openai != draft.quirks.has(Quirk::OtherMaxTokens);
        set(if is_new { "max_completion_tokens" } else { "max_tokens" }, tokens.into());
    }
    if let Some(temperature) = request.temperature.filter(|_| !draft.quirks.has(Quirk::NoTemperature)) {
        set("temperature", float(temperature));
    }
    if let Some(thinking) = draft.thinking.filter(|_| !draft.quirks.has(Quirk::NoThinking)) {
        set("reasoning_effort", effort(thinking).into());
    }
    match &draft.constraint {
        Some(Constraint::Schema { schema, is_strict, .. }) => set(
            "response_format",
            json!({"type": "json_schema", "json_schema": {"name": "answer", "schema": schema, "strict": is_strict}}),
        ),
        Some(Constraint::Object(_)) => set("response_format", json!({"type": "json_object"})),
        Some(Constraint::Prompt(_)) | None => {}
    }
    if draft.has_tools() {
        set("tools", draft.tools.to_json());
        match &request.tool_choice {
            ToolChoice::Auto => {}
            ToolChoice::None => set("tool_choice", "none".into()),
            ToolChoice::Required => set("tool_choice", "required".into()),
            ToolChoice::Named(name) => {
                set("tool_choice", json!({"type": "function", "function": {"name": draft.named(name)?}}));
            }
        }
    }
    Ok(body)
}

/// A number as it was written, not as the next one of twice the size.
pub(crate) fn float(number: f32) -> Value {
    number
        .to_string()
        .parse::<f64>()
        .ok()
        .and_then(serde_json::Number::from_f64)
        .map_or(Value::Null, Value::Number)
}

pub(crate) const fn effort(thinking: Thinking) -> &'static str {
    match thinking {
        Thinking::Low => "low",
        Thinking::Medium => "medium",
        Thinking::High => "high",
    }
}

fn messages(draft: &Draft<'_>) -> Vec<Value> {
    let mut messages = Vec::new();
    let system = draft.system();
    if !system.is_empty() {
        messages.push(json!({"role": "system", "content": system}));
    }
    for turn in draft.turns() {
        match turn {
            Turn::User(content) => push_user(&mut messages, user(&content)),
            Turn::Assistant(turn) => messages.extend(assistant(draft, &turn)),
            Turn::Results(results) => {
                for message in draft.tools.render(&results) {
                    if message["role"] == "user" {
                        push_user(&mut messages, message["content"].clone());
                    } else {
                        messages.push(message);
                    }
                }
            }
        }
    }
    messages
}

/// The content of a message of the user: a text where it is text alone, since not every server takes parts.
fn user(content: &[Cow<'_, Content>]) -> Value {
    let content: Vec<Content> = content.iter().map(|part| part.clone().into_owned()).collect();
    let parts = Dialect::OpenAiChat.render_content(&content);
    let texts: Option<Vec<&str>> = parts.iter().map(|part| part.get("text")?.as_str()).collect();
    match texts {
        Some(texts) => texts.join("\n").into(),
        None => parts.into(),
    }
}

/// Two messages of the user in a row are one: not every chat template takes two.
fn push_user(messages: &mut Vec<Value>, content: Value) {
    match messages.last_mut().filter(|last| last["role"] == "user") {
        Some(last) => {
            let mut parts = parts(last["content"].take());
            parts.extend(self::parts(content));
            last["content"] = parts.into();
        }
        None => messages.push(json!({"role": "user", "content": content})),
    }
}

fn parts(content: Value) -> Vec<Value> {
    match content {
        Value::Array(parts) => parts,
        text => vec![json!({"type": "text", "text": text})],
    }
}

fn assistant(draft: &Draft<'_>, turn: &AssistantTurn<'_>) -> Option<Value> {
    let text = turn.texts().collect::<Vec<_>>().concat();
    let mut message =
        draft.tools.render_calls(&turn.calls).pop().unwrap_or_else(|| json!({"role": "assistant"}));
    for call in message.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten() {
        mend_arguments(&mut call["function"]["arguments"]);
    }
    let has_calls = !turn.calls.is_empty();
    match text.is_empty() {
        true if !has_calls => return None,
        true => message["content"] = Value::Null,
        false => message["content"] = text.into(),
    }
    if let Some(raw) = turn.raw.filter(|_| has_calls) {
        let mut raw = raw.clone();
        if turn.has_new_ids {
            set_raw_call_ids(draft.dialect(), &mut raw, &turn.calls);
        }
        add_extras(&mut message, &raw);
    }
    Some(message)
}

/// Adds what the server's own message has beyond text and calls.
fn add_extras(message: &mut Value, raw: &Value) {
    let Some(members) = message.as_object_mut() else { return };
    for key in REASONING {
        if let Some(reasoning) = raw.get(key) {
            members.insert(key.to_owned(), reasoning.clone());
        }
    }
    let own = raw.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
    let calls = members.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten();
    for (call, own) in calls.zip(own) {
        if let (Some(call), Some(extra)) = (call.as_object_mut(), own.get("extra_content")) {
            call.insert("extra_content".to_owned(), extra.clone());
        }
    }
}

/// A message of the server's, from its parts.
pub(super) fn raw(text: &str, calls: Option<Value>, extras: Map<String, Value>) -> Value {
    let mut message = calls.unwrap_or_else(|| json!({"role": "assistant"}));
    message["content"] = if text.is_empty() { Value::Null } else { text.into() };
    if let Some(members) = message.as_object_mut() {
        members.extend(extras);
    }
    message
}
