//! The answer of Responses, in events.

use super::returned;
use crate::answer::{StopReason, Usage};
use crate::fault::Fault;
use crate::message::{AssistantMessage, AssistantPart};
use crate::model::ModelEvent;
use crate::wire::{AnswerReader, Calls, Read, Whole, number, text};
use data_encoding::BASE64;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use toolkit::output::Bytes;

/// Reads events.
pub(crate) struct Reader {
    calls: Calls,
    /// Items that are whole, by their place.
    done: BTreeMap<u64, Value>,
    /// The texts and reasoning so far, by the position of the item.
    open: BTreeMap<u64, Open>,
    /// The items as the end of the answer says them, for servers that say them only there.
    output: Vec<Value>,
    stop: Option<StopReason>,
    usage: Option<Usage>,
}

/// An item of which something has come.
#[derive(Default)]
struct Open {
    text: String,
    reasoning: String,
    /// The part of the summary that came last.
    part: u64,
}

impl Reader {
    pub(crate) fn new(calls: Calls) -> Self {
        let (done, open) = (BTreeMap::new(), BTreeMap::new());
        Self { calls, done, open, output: Vec::new(), stop: None, usage: None }
    }

    fn end(&mut self, response: &Value) {
        self.usage = usage(&response["usage"]).or(self.usage);
        if let Some(items) = response["output"].as_array() {
            self.output.clone_from(items);
        }
        let reason = text(&response["incomplete_details"], "reason");
        self.stop = Some(match (text(response, "status"), reason) {
            (_, "max_output_tokens" | "max_tokens") | ("incomplete", "") => StopReason::MaxTokens,
            (_, "content_filter") => StopReason::ContentFilter,
            ("incomplete", reason) => StopReason::Other(reason.to_owned()),
            ("cancelled", _) => StopReason::Other("cancelled".to_owned()),
            _ => StopReason::End,
        });
    }

    /// The items that have come, in their order.
    fn items(&self) -> Vec<Value> {
        if self.done.is_empty() && !self.output.is_empty() {
            return self.output.clone();
        }
        let mut items = self.done.clone();
        for (place, open) in self.open.iter().filter(|(place, _)| !self.done.contains_key(place)) {
            if !open.text.is_empty() {
                let content = json!([{"type": "output_text", "text": open.text, "annotations": []}]);
                // Without an id it is a message of the conversation, not an item of an answer.
                items.insert(*place, json!({"type": "message", "role": "assistant", "content": content}));
            } else if !open.reasoning.is_empty() {
                items.insert(*place, json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": open.reasoning}]}));
            }
        }
        items.into_values().collect()
    }
}

/// The content of items; calls are taken in their order.
fn content(items: &[Value], calls: &mut dyn Iterator<Item = AssistantPart>) -> Vec<AssistantPart> {
    let mut content = Vec::new();
    for item in items {
        match text(item, "type") {
            "message" => {
                let parts = item["content"].as_array().into_iter().flatten();
                let texts: String =
                    parts.map(|part| [text(part, "text"), text(part, "refusal")].concat()).collect();
                if !texts.is_empty() {
                    content.push(AssistantPart::Text { text: texts });
                }
            }
            "reasoning" => {
                let summary = item["summary"].as_array().into_iter().flatten();
                let own = item["content"].as_array().into_iter().flatten();
                let texts: Vec<&str> = summary
                    .chain(own)
                    .map(|part| text(part, "text"))
                    .filter(|text| !text.is_empty())
                    .collect();
                let signature = item["encrypted_content"].as_str().map(str::to_owned);
                content.push(AssistantPart::Reasoning { text: texts.join("\n\n"), signature });
            }
            "function_call" => content.extend(calls.next()),
            "image_generation_call" => content.extend(image(item)),
            _ => {}
        }
    }
    content.extend(calls);
    content
}

fn image(item: &Value) -> Option<AssistantPart> {
    let data = BASE64.decode(item["result"].as_str()?.as_bytes()).ok()?;
    let format = Some(text(item, "output_format")).filter(|format| !format.is_empty()).unwrap_or("png");
    Some(AssistantPart::Image { data: Bytes(data), mime_type: format!("image/{format}") })
}

fn usage(usage: &Value) -> Option<Usage> {
    let mut found = Usage::new(number(usage, "/input_tokens")?, number(usage, "/output_tokens").unwrap_or(0));
    found.cached_tokens = number(usage, "/input_tokens_details/cached_tokens").unwrap_or(0);
    found.cache_write_tokens = number(usage, "/input_tokens_details/cache_write_tokens").unwrap_or(0);
    found.reasoning_tokens = number(usage, "/output_tokens_details/reasoning_tokens");
    Some(found)
}

/// Takes calls that were cut off out of items, and puts the ids in that the calls have.
fn settle(items: Vec<Value>, whole: &Whole) -> Vec<Value> {
    let mut calls = whole.iter();
    let settled = items.into_iter().filter_map(|mut item| {
        if item["type"] != "function_call" {
            return Some(item);
        }
        match calls.next() {
            Some(Some(call)) => {
                item["call_id"] = call.id.as_str().into();
                Some(item)
            }
            _ => None,
        }
    });
    settled.collect()
}

impl AnswerReader for Reader {
    fn take(&mut self, event: Value, events: &mut Vec<ModelEvent>) -> Result<(), Fault> {
        self.calls.take(&event, events)?;
        let place = event["output_index"].as_u64().unwrap_or(0);
        match text(&event, "type") {
            "response.output_item.done" => {
                self.done.insert(place, event["item"].clone());
            }
            "response.output_text.delta" | "response.refusal.delta" => {
                let delta = text(&event, "delta");
                self.open.entry(place).or_default().text.push_str(delta);
                if !delta.is_empty() {
                    events.push(ModelEvent::Text(delta.to_owned()));
                }
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                let open = self.open.entry(place).or_default();
                let part = event["summary_index"].as_u64().unwrap_or(0);
                let is_next = std::mem::replace(&mut open.part, part) != part && !open.reasoning.is_empty();
                let delta = format!("{}{}", if is_next { "\n\n" } else { "" }, text(&event, "delta"));
                open.reasoning.push_str(&delta);
                if !delta.is_empty() {
                    events.push(ModelEvent::Reasoning(delta));
                }
            }
            "response.completed" | "response.incomplete" | "response.done" => {
                let is_silent = self.open.is_empty() && self.done.is_empty();
                self.end(&event["response"]);
                // A server that says all at the end alone.
                if is_silent {
                    for part in content(&self.output, &mut std::iter::empty()) {
                        match part {
                            AssistantPart::Text { text } => events.push(ModelEvent::Text(text)),
                            AssistantPart::Reasoning { text, .. } if !text.is_empty() => {
                                events.push(ModelEvent::Reasoning(text));
                            }
                            _ => {}
                        }
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn split(&self, whole: Value) -> Vec<Value> {
        let kind =
            if text(&whole, "status") == "incomplete" { "response.incomplete" } else { "response.completed" };
        vec![json!({"type": kind, "response": whole})]
    }

    fn has_ended(&self) -> bool {
        self.stop.is_some()
    }

    fn partial(&self) -> AssistantMessage {
        let items: Vec<Value> =
            self.items().into_iter().filter(|item| item["type"] != "function_call").collect();
        AssistantMessage { content: content(&items, &mut self.calls.told()), raw: None }
    }

    fn finish(self: Box<Self>, _: bool) -> Result<Read, Fault> {
        let items = self.items();
        let Self { calls, stop, usage, .. } = *self;
        let Some(stop) = stop else {
            return Err(Fault::Ended("the stream ended before the answer was complete".to_owned()));
        };
        let whole = calls.finish()?;
        let items = settle(items, &whole);
        let refuses = |item: &Value| {
            item["content"].as_array().into_iter().flatten().any(|part| part["type"] == "refusal")
        };
        let stop =
            if stop == StopReason::End && items.iter().any(refuses) { StopReason::Refusal } else { stop };
        let mut parts = whole.into_iter().flatten().map(AssistantPart::ToolCall);
        let content = content(&items, &mut parts);
        let raw = Some(returned(items.into_iter())).filter(|items| !items.is_empty()).map(Value::Array);
        Ok(Read { content, raw, stop, usage })
    }
}
