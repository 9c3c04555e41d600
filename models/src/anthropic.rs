//! Messages of Anthropic.

mod cache;
mod read;

pub(crate) use read::Reader;

use crate::chat::{effort, float};
use crate::conversation::{AssistantTurn, Turn, set_raw_call_ids};
use crate::message::AssistantPart;
use crate::quirks::Quirk;
use crate::request::{Thinking, ToolChoice};
use crate::wire::{Constraint, Draft};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use toolkit::{Content, dialects::Dialect};

/// The limit of tokens where none is configured: the provider wants one.
const MAX_TOKENS: u32 = 16_000;
/// The same for the oldest models, which take no more.
const MAX_TOKENS_OF_OLDEST: u32 = 4_096;

/// The tokens for an answer beside the budget of its thoughts.
const ANSWER_BESIDE_THOUGHTS: u32 = 1_024;

/// Returns the limit of tokens that is sent.
fn limit(model: &str, limit: Option<u32>) -> u32 {
    limit.unwrap_or(if model.contains("claude-3") { MAX_TOKENS_OF_OLDEST } else { MAX_TOKENS })
}

/// Returns the highest limit that a request may be sent with, whatever is learned of the model meanwhile.
pub(crate) fn most_tokens(model: &str, max_tokens: Option<u32>, thinking: Option<Thinking>) -> u32 {
    let limit = limit(model, max_tokens);
    thinking.map_or(limit, |thinking| limit.max(budget(thinking) + ANSWER_BESIDE_THOUGHTS))
}

pub(crate) fn body(draft: &Draft<'_>) -> Result<Value, String> {
    let request = draft.request;
    let mut max_tokens = limit(draft.model, draft.max_tokens);
    let turns = draft.turns();
    // A call that is demanded leaves no room for thoughts.
    let is_free = matches!(request.tool_choice, ToolChoice::Auto | ToolChoice::None);
    let thinking =
        draft.thinking.filter(|_| !draft.quirks.has(Quirk::NoThinking) && is_free && can_think(&turns));
    let is_adaptive = is_adaptive(draft.model) != draft.quirks.has(Quirk::OtherThinking);
    let mut output = json!({});
    let mut wishes = json!({});
    match thinking {
        Some(thinking) if is_adaptive => {
            wishes["thinking"] = json!({"type": "adaptive"});
            output["effort"] = effort(thinking).into();
        }
        Some(thinking) => {
            let budget = budget(thinking);
            // The budget is a part of the limit.
            max_tokens = max_tokens.max(budget + ANSWER_BESIDE_THOUGHTS);
            wishes["thinking"] = json!({"type": "enabled", "budget_tokens": budget});
        }
        None => {
            // Newer models take no temperature at all, and none takes one while it thinks.
            let temperature = request.temperature.filter(|_| !self::is_adaptive(draft.model));
            if let Some(temperature) = temperature.filter(|_| !draft.quirks.has(Quirk::NoTemperature)) {
                wishes["temperature"] = float(temperature);
            }
        }
    }
    if let Some(Constraint::Schema { schema, .. }) = &draft.constraint {
        output["format"] = json!({"type": "json_schema", "schema": schema});
    }
    if output.as_object().is_some_and(|output| !output.is_empty()) {
        wishes["output_config"] = output;
    }
    let mut body = json!({"model": draft.model, "max_tokens": max_tokens, "stream": true});
    let mut set =
        |key: &str, value: Value| drop(body.as_object_mut().map(|body| body.insert(key.to_owned(), value)));
    // In the order in which the provider caches: tools, system, messages.
    if let Some((tools, choice)) = tools(draft, &turns)? {
        set("tools", tools);
        if let Some(choice) = choice {
            set("tool_choice", choice);
        }
    }
    let system = draft.system();
    if !system.is_empty() {
        set("system", json!([{"type": "text", "text": system}]));
    }
    set("messages", messages(draft, turns).into());
    for (key, value) in wishes.as_object_mut().into_iter().flatten() {
        set(key, value.take());
    }
    if request.cache {
        cache::mark(&mut body);
    }
    Ok(body)
}

/// Returns true for models that decide themselves how much they think. Those that take a budget are known by name.
fn is_adaptive(model: &str) -> bool {
    let of_budget = [
        "claude-2",
        "claude-3",
        "claude-opus-4-0",
        "claude-opus-4-1",
        "claude-opus-4-2",
        "claude-opus-4-5",
        "claude-sonnet-4-0",
        "claude-sonnet-4-2",
        "claude-sonnet-4-5",
        "claude-haiku-4-5",
        "claude-instant",
    ];
    !of_budget.iter().any(|name| model.contains(name))
        && !model.ends_with("claude-opus-4")
        && !model.ends_with("claude-sonnet-4")
}

const fn budget(thinking: Thinking) -> u32 {
    match thinking {
        Thinking::Low => 2_048,
        Thinking::Medium => 8_192,
        Thinking::High => 24_576,
    }
}

/// Returns false if the model is within a chain of calls that began without thinking: its messages would have to begin with thoughts.
fn can_think(turns: &[Turn<'_>]) -> bool {
    let last = turns.iter().rposition(|turn| matches!(turn, Turn::User(_)));
    let chain = &turns[last.map_or(0, |last| last + 1)..];
    chain.iter().all(|turn| match turn {
        Turn::Assistant(turn) => turn.calls.is_empty() || turn.raw.is_some_and(begins_with_thought),
        _ => true,
    })
}

fn begins_with_thought(raw: &Value) -> bool {
    let first = raw["content"].as_array().and_then(|blocks| blocks.first());
    first.is_some_and(|block| block["type"] == "thinking" || block["type"] == "redacted_thinking")
}

/// The tools, and which of them is to be called.
fn tools(draft: &Draft<'_>, turns: &[Turn<'_>]) -> Result<Option<(Value, Option<Value>)>, String> {
    if !draft.has_tools() {
        // A conversation with calls is refused without definitions of what was called.
        let calls = turns.iter().filter_map(|turn| match turn {
            Turn::Assistant(turn) => Some(draft.tools.render_calls(&turn.calls)),
            _ => None,
        });
        let blocks =
            calls.flatten().flat_map(|message| message["content"].as_array().cloned().unwrap_or_default());
        let called: BTreeSet<String> =
            blocks.filter_map(|block| block["name"].as_str().map(str::to_owned)).collect();
        let define = |name| json!({"name": name, "description": "No longer available.", "input_schema": {"type": "object"}});
        let tools: Vec<Value> = called.into_iter().map(define).collect();
        return Ok((!tools.is_empty()).then(|| (tools.into(), Some(json!({"type": "none"})))));
    }
    let choice = match &draft.request.tool_choice {
        ToolChoice::Auto => None,
        ToolChoice::None => Some(json!({"type": "none"})),
        ToolChoice::Required => Some(json!({"type": "any"})),
        ToolChoice::Named(name) => Some(json!({"type": "tool", "name": draft.named(name)?})),
    };
    Ok(Some((draft.tools.to_json(), choice)))
}

fn messages(draft: &Draft<'_>, turns: Vec<Turn<'_>>) -> Vec<Value> {
    let mut messages: Vec<Value> = Vec::new();
    for turn in turns {
        let message = match turn {
            Turn::User(content) => {
                let content: Vec<Content> = content.into_iter().map(std::borrow::Cow::into_owned).collect();
                Some(json!({"role": "user", "content": Dialect::Anthropic.render_content(&content)}))
            }
            Turn::Assistant(turn) => assistant(draft, &turn),
            Turn::Results(results) => draft.tools.render(&results).pop(),
        };
        let Some(mut message) = message else { continue };
        // Results and what the user says after them are one message: a call is followed by its result at once.
        match messages.last_mut().filter(|last| last["role"] == message["role"]) {
            Some(last) => {
                let more = message["content"].as_array_mut().map(std::mem::take).unwrap_or_default();
                last["content"]
                    .as_array_mut()
                    .into_iter()
                    .for_each(|content| content.extend(more.iter().cloned()));
            }
            None => messages.push(message),
        }
    }
    messages
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
    let mut blocks = Vec::new();
    for part in turn.content {
        match part {
            AssistantPart::Text { text } if !text.trim().is_empty() => {
                blocks.push(json!({"type": "text", "text": text}));
            }
            AssistantPart::ToolCall(_) => {
                let call =
                    calls.next().and_then(|call| draft.tools.render_calls(std::slice::from_ref(call)).pop());
                if let Some(Value::Array(call)) = call.map(|mut message| message["content"].take()) {
                    blocks.extend(call);
                }
            }
            _ => {}
        }
    }
    (!blocks.is_empty()).then(|| json!({"role": "assistant", "content": blocks}))
}

/// Takes out of a strict schema what the provider's grammars do not know; the answer is checked by who asked for it.
pub(crate) fn without_bounds(schema: &mut Value) {
    const UNKNOWN: [&str; 11] = [
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minLength",
        "maxLength",
        "minItems",
        "maxItems",
        "uniqueItems",
        "pattern",
    ];
    let Some(members) = schema.as_object_mut() else { return };
    members.retain(|key, _| !UNKNOWN.contains(&key.as_str()));
    for key in ["properties", "$defs"] {
        let parts = members.get_mut(key).and_then(Value::as_object_mut);
        parts.into_iter().flat_map(|parts| parts.values_mut()).for_each(without_bounds);
    }
    for key in ["anyOf", "allOf"] {
        let parts = members.get_mut(key).and_then(Value::as_array_mut);
        parts.into_iter().flatten().for_each(without_bounds);
    }
    if let Some(items) = members.get_mut("items") {
        without_bounds(items);
    }
}
