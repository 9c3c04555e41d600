//! The answer of Gemini, in responses of which each has some parts.

use crate::answer::{StopReason, Usage};
use crate::fault::Fault;
use crate::message::{AssistantMessage, AssistantPart};
use crate::model::ModelEvent;
use crate::wire::{AnswerReader, Calls, Read, Whole, number, text};
use data_encoding::BASE64;
use serde_json::{Value, json};
use toolkit::output::Bytes;

/// Reads responses.
pub(crate) struct Reader {
    calls: Calls,
    /// The parts, texts that belong together in one.
    parts: Vec<Value>,
    stop: Option<StopReason>,
    usage: Option<Usage>,
}

impl Reader {
    pub(crate) fn new(calls: Calls) -> Self {
        Self { calls, parts: Vec::new(), stop: None, usage: None }
    }

    fn part(&mut self, part: &Value, events: &mut Vec<ModelEvent>) {
        let said = text(part, "text");
        if !said.is_empty() {
            let said = said.to_owned();
            events.push(if is_thought(part) { ModelEvent::Reasoning(said) } else { ModelEvent::Text(said) });
        }
        // A part with a signature stays as it is, and nothing is added to it.
        if is_plain_text(part) {
            match self
                .parts
                .last_mut()
                .filter(|last| is_plain_text(last) && is_thought(last) == is_thought(part))
            {
                Some(last) => last["text"] = [text(last, "text"), text(part, "text")].concat().into(),
                None if said.is_empty() => {}
                None => self.parts.push(part.clone()),
            }
        } else {
            self.parts.push(part.clone());
        }
    }
}

fn is_thought(part: &Value) -> bool {
    part["thought"] == true
}

fn signature(part: &Value) -> Option<&str> {
    ["thoughtSignature", "thought_signature"].iter().find_map(|key| part.get(*key)?.as_str())
}

fn is_plain_text(part: &Value) -> bool {
    part.as_object().is_some_and(|members| {
        members.contains_key("text") && members.keys().all(|key| key == "text" || key == "thought")
    })
}

fn has_call(part: &Value) -> bool {
    ["functionCall", "function_call"].iter().any(|key| part.get(*key).is_some_and(|call| !call.is_null()))
}

fn image(part: &Value) -> Option<AssistantPart> {
    let data = part.get("inlineData").or_else(|| part.get("inline_data"))?;
    let kind = data.get("mimeType").or_else(|| data.get("mime_type"))?.as_str()?;
    let bytes = BASE64.decode(data["data"].as_str()?.as_bytes()).ok()?;
    kind.starts_with("image/")
        .then(|| AssistantPart::Image { data: Bytes(bytes), mime_type: kind.to_owned() })
}

/// The content of parts; calls are taken in their order.
fn content(parts: &[Value], calls: &mut dyn Iterator<Item = Option<AssistantPart>>) -> Vec<AssistantPart> {
    let mut content: Vec<AssistantPart> = Vec::new();
    for part in parts {
        if has_call(part) {
            content.extend(calls.next().flatten());
        } else if let Some(image) = image(part) {
            content.push(image);
        } else if is_thought(part) {
            let signature = signature(part).map(str::to_owned);
            content.push(AssistantPart::Reasoning { text: text(part, "text").to_owned(), signature });
        } else if let (Some(AssistantPart::Text { text: before }), more) =
            (content.last_mut(), text(part, "text"))
        {
            before.push_str(more);
        } else if !text(part, "text").is_empty() {
            content.push(AssistantPart::Text { text: text(part, "text").to_owned() });
        }
    }
    content
}

fn usage(usage: &Value) -> Option<Usage> {
    let input = number(usage, "/promptTokenCount")?;
    let input = input.saturating_add(number(usage, "/toolUsePromptTokenCount").unwrap_or(0));
    let thoughts = number(usage, "/thoughtsTokenCount");
    let output = number(usage, "/candidatesTokenCount").unwrap_or(0);
    let mut found = Usage::new(input, output.saturating_add(thoughts.unwrap_or(0)));
    found.cached_tokens = number(usage, "/cachedContentTokenCount").unwrap_or(0);
    found.reasoning_tokens = thoughts;
    Some(found)
}

/// The parts that go back: calls with their ids, and of thoughts those that are signed.
fn returned(parts: Vec<Value>, whole: &Whole) -> Vec<Value> {
    let mut calls = whole.iter();
    let returned = parts.into_iter().filter_map(|mut part| {
        if has_call(&part) {
            let call = calls.next()?.as_ref()?;
            for key in ["functionCall", "function_call"] {
                // A call without an id stays without one: the provider knows none.
                let own = part
                    .get_mut(key)
                    .and_then(|own| own.get_mut("id"))
                    .filter(|id| id.as_str().is_some_and(|id| !id.is_empty()));
                if let Some(id) = own {
                    *id = call.id.as_str().into();
                }
            }
            return Some(part);
        }
        let is_needed = !is_thought(&part) || signature(&part).is_some();
        is_needed.then_some(part)
    });
    returned.collect()
}

impl AnswerReader for Reader {
    fn take(&mut self, event: Value, events: &mut Vec<ModelEvent>) -> Result<(), Fault> {
        // Vertex AI and others stream within a list.
        if let Value::Array(responses) = event {
            return responses.into_iter().try_for_each(|response| self.take(response, events));
        }
        self.usage = usage(&event["usageMetadata"]).or(self.usage);
        let feedback = &event["promptFeedback"];
        let block = text(feedback, "blockReason");
        if !block.is_empty() {
            let message = text(feedback, "blockReasonMessage");
            return Err(Fault::Blocked(if message.is_empty() {
                block.to_owned()
            } else {
                format!("{message} ({block})")
            }));
        }
        self.calls.take(&event, events)?;
        let candidate = &event["candidates"][0];
        for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
            self.part(part, events);
        }
        self.stop = match text(candidate, "finishReason") {
            "" | "FINISH_REASON_UNSPECIFIED" => self.stop.take(),
            "STOP" => Some(StopReason::End),
            "MAX_TOKENS" => Some(StopReason::MaxTokens),
            "SAFETY"
            | "RECITATION"
            | "BLOCKLIST"
            | "PROHIBITED_CONTENT"
            | "SPII"
            | "IMAGE_SAFETY"
            | "IMAGE_PROHIBITED_CONTENT"
            | "IMAGE_RECITATION"
            | "MODEL_ARMOR" => Some(StopReason::ContentFilter),
            other => Some(StopReason::Other(other.to_lowercase())),
        };
        Ok(())
    }

    fn split(&self, whole: Value) -> Vec<Value> {
        vec![whole]
    }

    fn has_ended(&self) -> bool {
        self.stop.is_some()
    }

    fn partial(&self) -> AssistantMessage {
        AssistantMessage { content: content(&self.parts, &mut self.calls.told().map(Some)), raw: None }
    }

    fn finish(self: Box<Self>, _: bool) -> Result<Read, Fault> {
        let Self { calls, parts, stop, usage } = *self;
        let Some(stop) = stop else {
            return Err(Fault::Ended("the stream ended before the answer was complete".to_owned()));
        };
        let whole = calls.finish()?;
        let mut kept = whole.iter().cloned().map(|call| call.map(AssistantPart::ToolCall));
        let content = content(&parts, &mut kept);
        let returned = returned(parts, &whole);
        let raw = (!returned.is_empty()).then(|| json!({"role": "model", "parts": returned}));
        Ok(Read { content, raw, stop, usage })
    }
}
