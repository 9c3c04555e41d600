//! `generateContent` of Gemini.

mod read;

pub(crate) use read::Reader;

use crate::chat::float;
use crate::conversation::{AssistantTurn, Turn, set_raw_call_ids};
use crate::message::AssistantPart;
use crate::quirks::Quirk;
use crate::request::{Thinking, ToolChoice};
use crate::wire::{Constraint, Draft};
use serde_json::{Value, json};
use toolkit::{Content, dialects::Dialect};

/// Stands for the signature of a call that another model made, by "Thought signatures" in the provider's documentation.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

pub(crate) fn body(draft: &Draft<'_>) -> Result<Value, String> {
    let request = draft.request;
    let mut body = json!({"contents": contents(draft)});
    let mut system = draft.system();
    let mut generation = json!({});
    if let Some(tokens) = draft.max_tokens {
        generation["maxOutputTokens"] = tokens.into();
    }
    if let Some(temperature) = request.temperature.filter(|_| !draft.quirks.has(Quirk::NoTemperature)) {
        generation["temperature"] = float(temperature);
    }
    if let Some(thinking) = draft.thinking.filter(|_| !draft.quirks.has(Quirk::NoThinking)) {
        generation["thinkingConfig"] = thinking_config(draft.model, thinking);
    }
    match &draft.constraint {
        // Older models take no schema of the answer beside tools.
        Some(Constraint::Schema { schema, .. }) if draft.has_tools() && is_old(draft.model) => {
            if !system.is_empty() {
                system.push_str("\n\n");
            }
            system.push_str("When you answer without calling a tool, answer with JSON alone that fits this JSON Schema:\n");
            system.push_str(&schema.to_string());
        }
        Some(Constraint::Schema { schema, .. }) => {
            generation["responseMimeType"] = "application/json".into();
            generation["responseJsonSchema"] = schema.clone();
        }
        Some(Constraint::Object(_)) if !draft.has_tools() => {
            generation["responseMimeType"] = "application/json".into();
        }
        _ => {}
    }
    let mut set =
        |key: &str, value: Value| drop(body.as_object_mut().map(|body| body.insert(key.to_owned(), value)));
    if !system.is_empty() {
        set("systemInstruction", json!({"parts": [{"text": system}]}));
    }
    if generation.as_object().is_some_and(|members| !members.is_empty()) {
        set("generationConfig", generation);
    }
    if draft.has_tools() {
        set("tools", draft.tools.to_json());
        let config = match &request.tool_choice {
            ToolChoice::Auto => None,
            ToolChoice::None => Some(json!({"mode": "NONE"})),
            ToolChoice::Required => Some(json!({"mode": "ANY"})),
            ToolChoice::Named(name) => {
                Some(json!({"mode": "ANY", "allowedFunctionNames": [draft.named(name)?]}))
            }
        };
        if let Some(config) = config {
            set("toolConfig", json!({"functionCallingConfig": config}));
        }
    }
    Ok(body)
}

/// Returns true for the models before Gemini 3.
fn is_old(model: &str) -> bool {
    ["gemini-1", "gemini-2"].iter().any(|name| model.contains(name))
}

fn thinking_config(model: &str, thinking: Thinking) -> Value {
    if is_old(model) {
        let budget = match thinking {
            Thinking::Low => 1_024,
            Thinking::Medium => 8_192,
            Thinking::High => 24_576,
        };
        return json!({"includeThoughts": true, "thinkingBudget": budget});
    }
    let level = match thinking {
        Thinking::Low => "LOW",
        Thinking::Medium => "MEDIUM",
        Thinking::High => "HIGH",
    };
    json!({"includeThoughts": true, "thinkingLevel": level})
}

fn contents(draft: &Draft<'_>) -> Vec<Value> {
    let mut contents: Vec<Value> = Vec::new();
    for turn in draft.turns() {
        let content = match turn {
            Turn::User(content) => {
                let content: Vec<Content> = content.into_iter().map(std::borrow::Cow::into_owned).collect();
                Some(json!({"role": "user", "parts": Dialect::Gemini.render_content(&content)}))
            }
            Turn::Assistant(turn) => assistant(draft, &turn),
            Turn::Results(results) => draft.tools.render(&results).pop(),
        };
        let Some(mut content) = content else { continue };
        match contents.last_mut().filter(|last| last["role"] == content["role"]) {
            Some(last) => {
                let more = content["parts"].as_array_mut().map(std::mem::take).unwrap_or_default();
                last["parts"].as_array_mut().into_iter().for_each(|parts| parts.extend(more.iter().cloned()));
            }
            None => contents.push(content),
        }
    }
    contents
}

fn assistant(draft: &Draft<'_>, turn: &AssistantTurn<'_>) -> Option<Value> {
    if let Some(raw) = turn.raw {
        let mut raw = raw.clone();
        if turn.has_new_ids {
            set_raw_call_ids(draft.dialect(), &mut raw, &turn.calls);
        }
        return Some(raw);
    }
    let mut calls = turn.calls.iter();
    let mut parts = Vec::new();
    let mut is_first_call = true;
    for part in turn.content {
        match part {
            AssistantPart::Text { text } if !text.trim().is_empty() => parts.push(json!({"text": text})),
            AssistantPart::ToolCall(_) => {
                let call =
                    calls.next().and_then(|call| draft.tools.render_calls(std::slice::from_ref(call)).pop());
                let Some(mut part) = call.and_then(|mut content| content["parts"].as_array_mut()?.pop())
                else {
                    continue;
                };
                // The first call of a message must have a signature.
                if std::mem::take(&mut is_first_call) && !is_old(draft.model) {
                    part["thoughtSignature"] = NO_SIGNATURE.into();
                }
                parts.push(part);
            }
            _ => {}
        }
    }
    (!parts.is_empty()).then(|| json!({"role": "model", "parts": parts}))
}
