//! The answer of Chat Completions, in chunks.

use super::{REASONING, raw};
use crate::answer::{StopReason, Usage};
use crate::fault::Fault;
use crate::message::{AssistantMessage, AssistantPart};
use crate::model::ModelEvent;
use crate::wire::{AnswerReader, Calls, Read, number, text};
use data_encoding::BASE64;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use toolkit::{ToolCall, output::Bytes};

/// Reads chunks.
pub(crate) struct Reader {
    calls: Calls,
    text: String,
    reasoning: String,
    images: Vec<AssistantPart>,
    /// Reasoning as the server writes it, by the name of the member.
    extras: Map<String, Value>,
    /// The fields beside the function in a call, by the call's position.
    beside: BTreeMap<usize, Value>,
    /// The ids and places of the calls of `beside`.
    places: Vec<(Option<u64>, Option<String>)>,
    stop: Option<StopReason>,
    is_refusal: bool,
    usage: Option<Usage>,
}

impl Reader {
    pub(crate) fn new(calls: Calls) -> Self {
        Self {
            calls,
            text: String::new(),
            reasoning: String::new(),
            images: Vec::new(),
            extras: Map::new(),
            beside: BTreeMap::new(),
            places: Vec::new(),
            stop: None,
            is_refusal: false,
            usage: None,
        }
    }

    fn add_text(&mut self, text: &str, events: &mut Vec<ModelEvent>) {
        if !text.is_empty() {
            self.text.push_str(text);
            events.push(ModelEvent::Text(text.to_owned()));
        }
    }

    fn add_reasoning(&mut self, text: &str, events: &mut Vec<ModelEvent>) {
        if !text.is_empty() {
            self.reasoning.push_str(text);
            events.push(ModelEvent::Reasoning(text.to_owned()));
        }
    }

    fn delta(&mut self, delta: &Value, events: &mut Vec<ModelEvent>) {
        // Of several members with reasoning the first is shown: some servers say the same in two.
        let shown = ["reasoning_content", "reasoning"].iter().find(|key| !text(delta, key).is_empty());
        if let Some(key) = shown {
            self.add_reasoning(text(delta, key), events);
        }
        for key in REASONING {
            match (delta.get(key), self.extras.get_mut(key)) {
                (Some(Value::String(more)), Some(Value::String(before))) => before.push_str(more),
                (Some(Value::Array(more)), Some(Value::Array(before))) => {
                    for detail in more {
                        join(before, detail);
                    }
                }
                (Some(Value::String(more)), None) if more.is_empty() => {}
                (Some(first @ (Value::String(_) | Value::Array(_))), None) => {
                    self.extras.insert(key.to_owned(), first.clone());
                }
                _ => {}
            }
        }
        match delta.get("content") {
            Some(Value::String(text)) => self.add_text(text, events),
            // Mistral's parts.
            Some(Value::Array(parts)) => {
                for part in parts {
                    match part["thinking"].as_array() {
                        Some(thinking) => {
                            for part in thinking {
                                self.add_reasoning(text(part, "text"), events);
                            }
                        }
                        None => self.add_text(text(part, "text"), events),
                    }
                }
            }
            _ => {}
        }
        if !text(delta, "refusal").is_empty() {
            self.is_refusal = true;
            self.add_text(text(delta, "refusal"), events);
        }
        for image in delta["images"].as_array().into_iter().flatten() {
            self.images.extend(image["image_url"]["url"].as_str().and_then(image_part));
        }
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            self.note_call(call);
        }
    }

    /// Notes what is beside the function in a call, such as the signature of a thought.
    fn note_call(&mut self, call: &Value) {
        let index = call["index"].as_u64();
        let id = call["id"].as_str().filter(|id| !id.is_empty()).map(str::to_owned);
        let is_of = |(own_index, own_id): &(Option<u64>, Option<String>)| {
            (own_id.is_none() || id.is_none() || *own_id == id) && (index.is_none() || *own_index == index)
        };
        let place = self.places.iter().rposition(is_of).unwrap_or_else(|| {
            self.places.push((index, id.clone()));
            self.places.len() - 1
        });
        if let Some(extra) = call.get("extra_content").filter(|extra| !extra.is_null()) {
            self.beside.insert(place, extra.clone());
        }
    }

    fn content(&self, calls: impl Iterator<Item = AssistantPart>) -> Vec<AssistantPart> {
        let mut content = Vec::new();
        if !self.reasoning.is_empty() {
            content.push(AssistantPart::Reasoning { text: self.reasoning.clone(), signature: None });
        }
        if !self.text.is_empty() {
            content.push(AssistantPart::Text { text: self.text.clone() });
        }
        content.extend(self.images.iter().cloned());
        content.extend(calls);
        content
    }

    fn raw(&mut self, calls: &[ToolCall], has_all: bool) -> Value {
        let mut message = self.calls.definitions().render_calls(calls).pop();
        // Places are those of the whole answer.
        if has_all {
            let written = message.as_mut().and_then(|message| message["tool_calls"].as_array_mut());
            for (place, call) in written.into_iter().flatten().enumerate() {
                if let (Some(extra), Some(call)) = (self.beside.remove(&place), call.as_object_mut()) {
                    call.insert("extra_content".to_owned(), extra);
                }
            }
        }
        raw(&self.text, message, std::mem::take(&mut self.extras))
    }
}

/// Puts a fragment of a detail of reasoning to the one that it goes on with.
fn join(details: &mut Vec<Value>, more: &Value) {
    let last = details.last_mut().filter(|last| {
        last["index"] == more["index"] && last["type"] == more["type"] && !more["index"].is_null()
    });
    let Some(last) = last else { return details.push(more.clone()) };
    for (key, value) in more.as_object().into_iter().flatten() {
        match (last.get_mut(key), value) {
            (Some(Value::String(before)), Value::String(more))
                if ["text", "summary", "data"].contains(&key.as_str()) =>
            {
                before.push_str(more);
            }
            (_, Value::Null) => {}
            _ => last[key] = value.clone(),
        }
    }
}

/// An image at a `data:` address.
fn image_part(url: &str) -> Option<AssistantPart> {
    let (kind, data) = url.strip_prefix("data:")?.split_once(";base64,")?;
    let data = BASE64.decode(data.as_bytes()).ok()?;
    Some(AssistantPart::Image { data: Bytes(data), mime_type: kind.to_owned() })
}

fn usage(usage: &Value) -> Option<Usage> {
    let input = number(usage, "/prompt_tokens");
    let output = number(usage, "/completion_tokens");
    let mut found = Usage::new(input?, output.unwrap_or(0));
    let cached = number(usage, "/prompt_tokens_details/cached_tokens")
        .or_else(|| number(usage, "/prompt_cache_hit_tokens"));
    found.cached_tokens = cached.unwrap_or(0);
    found.cache_write_tokens = number(usage, "/prompt_tokens_details/cache_write_tokens").unwrap_or(0);
    found.reasoning_tokens = number(usage, "/completion_tokens_details/reasoning_tokens");
    Some(found)
}

impl AnswerReader for Reader {
    fn take(&mut self, event: Value, events: &mut Vec<ModelEvent>) -> Result<(), Fault> {
        let choices = event["choices"].as_array().into_iter().flatten();
        for choice in choices.filter(|choice| choice["index"].as_u64().unwrap_or(0) == 0) {
            self.delta(&choice["delta"], events);
            self.stop = match text(choice, "finish_reason") {
                "" => self.stop.take(),
                "length" => Some(StopReason::MaxTokens),
                "content_filter" => Some(StopReason::ContentFilter),
                "tool_calls" | "function_call" => Some(StopReason::ToolCalls),
                "stop" | "eos" | "eos_token" | "end_turn" | "stop_sequence" => Some(StopReason::End),
                other => Some(StopReason::Other(other.to_owned())),
            };
            // Moonshot counts within the choice.
            self.usage = usage(&choice["usage"]).or(self.usage);
        }
        // Groq counts beside it.
        self.usage = usage(&event["usage"]).or_else(|| usage(&event["x_groq"]["usage"])).or(self.usage);
        self.calls.take(&event, events)
    }

    fn split(&self, mut whole: Value) -> Vec<Value> {
        for choice in whole["choices"].as_array_mut().into_iter().flatten() {
            let Some(members) = choice.as_object_mut() else { continue };
            let Some(mut message) = members.remove("message") else { continue };
            // Each call is one of its own, whatever index it lacks.
            for (place, call) in message["tool_calls"].as_array_mut().into_iter().flatten().enumerate() {
                if let Some(call) = call.as_object_mut() {
                    call.insert("index".to_owned(), place.into());
                }
            }
            members.insert("delta".to_owned(), message);
        }
        vec![whole]
    }

    fn has_ended(&self) -> bool {
        self.stop.is_some()
    }

    fn partial(&self) -> AssistantMessage {
        AssistantMessage { content: self.content(self.calls.told()), raw: None }
    }

    fn finish(mut self: Box<Self>, is_done: bool) -> Result<Read, Fault> {
        let stop = match self.stop.take() {
            Some(stop) => stop,
            None if is_done => StopReason::End,
            None => return Err(Fault::Ended("the stream ended before the answer was complete".to_owned())),
        };
        let stop = if self.is_refusal && stop == StopReason::End { StopReason::Refusal } else { stop };
        let empty = Calls::new_like(&self.calls);
        let whole = std::mem::replace(&mut self.calls, empty).finish()?;
        let has_all = whole.iter().all(Option::is_some);
        let calls: Vec<ToolCall> = whole.into_iter().flatten().collect();
        let content = self.content(calls.iter().cloned().map(AssistantPart::ToolCall));
        let raw = (!content.is_empty()).then(|| self.raw(&calls, has_all));
        Ok(Read { content, raw, stop, usage: self.usage })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn details_of_reasoning_are_joined_by_index() {
        let mut details = Vec::new();
        for detail in [
            json!({"type": "reasoning.text", "text": "a", "index": 0}),
            json!({"type": "reasoning.text", "text": "b", "signature": "s", "index": 0}),
            json!({"type": "reasoning.encrypted", "data": "x", "index": 1}),
        ] {
            join(&mut details, &detail);
        }
        assert_eq!(
            details,
            [
                json!({"type": "reasoning.text", "text": "ab", "index": 0, "signature": "s"}),
                json!({"type": "reasoning.encrypted", "data": "x", "index": 1}),
            ]
        );
    }
}
