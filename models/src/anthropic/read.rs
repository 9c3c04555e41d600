//! The answer of Messages, in events.

use crate::answer::{StopReason, Usage};
use crate::fault::Fault;
use crate::message::{AssistantMessage, AssistantPart};
use crate::model::ModelEvent;
use crate::wire::{AnswerReader, Calls, Read, Whole, number, text};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Reads events.
pub(crate) struct Reader {
    calls: Calls,
    /// The blocks of the message, by their place.
    blocks: BTreeMap<u64, Value>,
    /// The input of blocks as it is written, by their place.
    inputs: BTreeMap<u64, String>,
    stop: Option<StopReason>,
    /// The last counts, by name.
    counted: Map<String, Value>,
}

impl Reader {
    pub(crate) fn new(calls: Calls) -> Self {
        let (blocks, inputs) = (BTreeMap::new(), BTreeMap::new());
        Self { calls, blocks, inputs, stop: None, counted: Map::new() }
    }

    fn delta(&mut self, place: u64, delta: &Value, events: &mut Vec<ModelEvent>) {
        let Some(block) = self.blocks.get_mut(&place) else { return };
        match text(delta, "type") {
            "text_delta" => {
                append(block, "text", text(delta, "text"));
                events.push(ModelEvent::Text(text(delta, "text").to_owned()));
            }
            "thinking_delta" => {
                append(block, "thinking", text(delta, "thinking"));
                events.push(ModelEvent::Reasoning(text(delta, "thinking").to_owned()));
            }
            "signature_delta" => append(block, "signature", text(delta, "signature")),
            "input_json_delta" => self.inputs.entry(place).or_default().push_str(text(delta, "partial_json")),
            "citations_delta" => match block["citations"].as_array_mut() {
                Some(citations) => citations.push(delta["citation"].clone()),
                None => block["citations"] = json!([delta["citation"]]),
            },
            _ => {}
        }
    }

    fn count(&mut self, usage: &Value) {
        let counts = usage.as_object().into_iter().flatten().filter(|(_, count)| !count.is_null());
        self.counted.extend(counts.map(|(name, count)| (name.clone(), count.clone())));
    }

    fn usage(&self) -> Option<Usage> {
        let counted = Value::Object(self.counted.clone());
        let plain = number(&counted, "/input_tokens")?;
        let read = number(&counted, "/cache_read_input_tokens").unwrap_or(0);
        let written = number(&counted, "/cache_creation_input_tokens").unwrap_or(0);
        let input = plain.saturating_add(read).saturating_add(written);
        let mut usage = Usage::new(input, number(&counted, "/output_tokens").unwrap_or(0));
        (usage.cached_tokens, usage.cache_write_tokens) = (read, written);
        usage.reasoning_tokens = number(&counted, "/output_tokens_details/thinking_tokens")
            .or_else(|| number(&counted, "/output_tokens_details/reasoning_tokens"));
        Some(usage)
    }

    /// The blocks that go back: whole calls with their ids, and thoughts that are signed.
    fn returned(&self, whole: &Whole) -> Vec<Value> {
        let mut calls = whole.iter();
        let returned = self.blocks.iter().filter_map(|(place, block)| {
            let mut block = block.clone();
            let input = self.inputs.get(place).filter(|input| !input.trim().is_empty());
            match text(&block, "type") {
                "tool_use" => {
                    let call = calls.next()?.as_ref()?;
                    block["id"] = call.id.as_str().into();
                    // Where the input is no object, it is within one.
                    let written = self.calls.definitions().render_calls(std::slice::from_ref(call)).pop()?;
                    block["input"] = written["content"][0]["input"].clone();
                }
                "text" if text(&block, "text").trim().is_empty() => return None,
                "thinking" if text(&block, "signature").is_empty() => return None,
                _ => {
                    if let Some(input) = input.and_then(|input| serde_json::from_str::<Value>(input).ok()) {
                        block["input"] = input;
                    }
                }
            }
            Some(block)
        });
        let mut returned: Vec<Value> = returned.collect();
        // A message that ends with a thought is refused.
        while returned.last().is_some_and(|block| text(block, "type").ends_with("thinking")) {
            returned.pop();
        }
        returned
    }
}

/// The content of blocks; calls are taken in their order.
fn content(
    blocks: &BTreeMap<u64, Value>,
    calls: &mut dyn Iterator<Item = Option<AssistantPart>>,
) -> Vec<AssistantPart> {
    let mut content = Vec::new();
    for block in blocks.values() {
        match text(block, "type") {
            "text" if !text(block, "text").is_empty() => {
                content.push(AssistantPart::Text { text: text(block, "text").to_owned() });
            }
            "thinking" => {
                let signature =
                    Some(text(block, "signature").to_owned()).filter(|signature| !signature.is_empty());
                content
                    .push(AssistantPart::Reasoning { text: text(block, "thinking").to_owned(), signature });
            }
            "redacted_thinking" => {
                let signature = Some(text(block, "data").to_owned());
                content.push(AssistantPart::Reasoning { text: String::new(), signature });
            }
            "tool_use" => content.extend(calls.next().flatten()),
            _ => {}
        }
    }
    content
}

fn append(block: &mut Value, key: &str, more: &str) {
    match &mut block[key] {
        Value::String(before) => before.push_str(more),
        other => *other = more.into(),
    }
}

impl AnswerReader for Reader {
    fn take(&mut self, event: Value, events: &mut Vec<ModelEvent>) -> Result<(), Fault> {
        self.calls.take(&event, events)?;
        let place = event["index"].as_u64();
        match (text(&event, "type"), place) {
            ("message_start", _) => self.count(&event["message"]["usage"]),
            ("content_block_start", Some(place)) => {
                let block = event["content_block"].clone();
                match (text(&block, "type"), text(&block, "text"), text(&block, "thinking")) {
                    ("text", text, _) if !text.is_empty() => events.push(ModelEvent::Text(text.to_owned())),
                    ("thinking", _, text) if !text.is_empty() => {
                        events.push(ModelEvent::Reasoning(text.to_owned()));
                    }
                    _ => {}
                }
                self.blocks.insert(place, block);
            }
            ("content_block_delta", Some(place)) => self.delta(place, &event["delta"], events),
            ("message_delta", _) => {
                self.count(&event["usage"]);
                self.stop = match text(&event["delta"], "stop_reason") {
                    "" => self.stop.take(),
                    "end_turn" | "stop_sequence" => Some(StopReason::End),
                    "tool_use" => Some(StopReason::ToolCalls),
                    "max_tokens" | "model_context_window_exceeded" => Some(StopReason::MaxTokens),
                    "refusal" => Some(StopReason::Refusal),
                    other => Some(StopReason::Other(other.to_owned())),
                };
            }
            _ => {}
        }
        Ok(())
    }

    fn split(&self, whole: Value) -> Vec<Value> {
        if text(&whole, "type") != "message" {
            return vec![whole];
        }
        let blocks = whole["content"].as_array().cloned().unwrap_or_default();
        let mut events = vec![json!({"type": "message_start", "message": {"usage": whole["usage"]}})];
        for (place, block) in blocks.into_iter().enumerate() {
            events.push(json!({"type": "content_block_start", "index": place, "content_block": block}));
            events.push(json!({"type": "content_block_stop", "index": place}));
        }
        events.push(json!({"type": "message_delta", "delta": {"stop_reason": whole["stop_reason"]}, "usage": whole["usage"]}));
        events
    }

    fn has_ended(&self) -> bool {
        self.stop.is_some()
    }

    fn partial(&self) -> AssistantMessage {
        let mut calls = self.calls.told().map(Some);
        AssistantMessage { content: content(&self.blocks, &mut calls), raw: None }
    }

    fn finish(mut self: Box<Self>, _: bool) -> Result<Read, Fault> {
        let Some(stop) = self.stop.take() else {
            return Err(Fault::Ended("the stream ended before the answer was complete".to_owned()));
        };
        let usage = self.usage();
        let empty = Calls::new_like(&self.calls);
        let whole = std::mem::replace(&mut self.calls, empty).finish()?;
        let returned = self.returned(&whole);
        let raw = (!returned.is_empty()).then(|| json!({"role": "assistant", "content": returned}));
        let mut calls = whole.into_iter().map(|call| call.map(AssistantPart::ToolCall));
        let content = content(&self.blocks, &mut calls);
        Ok(Read { content, raw, stop, usage })
    }
}
