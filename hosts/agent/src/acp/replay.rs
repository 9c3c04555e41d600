//! A transcript, as the updates of a session that is loaded.

use super::content::{chunk, kind};
use super::updates::past_call;
use crate::agent::Inner;
use crate::transcript::{Kind, Record};
use serde_json::Value;
use std::collections::HashMap;
use toolkit::{Content, ToolCall};
use toolkit_models::{Answer, AssistantPart, Message, ToolOutput};

/// The updates for all that was said and done, in order, also before messages were summarised.
pub(super) fn replay(records: &[Record], agent: &Inner) -> Vec<Value> {
    let mut results: HashMap<(u64, usize), &ToolOutput> = HashMap::new();
    for record in records {
        if let Record::Result { answer, call, output, .. } = record {
            results.insert((*answer, *call), output);
        }
    }
    let mut updates = Vec::new();
    for record in records {
        match record {
            Record::Message {
                kind: Kind::Task | Kind::Addition,
                message: Message::User(message),
                consumes,
                ..
            } => {
                let texts = message.content.iter().filter_map(Content::as_text);
                updates.extend(texts.map(|text| {
                    let mut update = chunk("user_message_chunk", text);
                    if let Some(id) = consumes.first() {
                        update["messageId"] = id.as_str().into();
                    }
                    update
                }));
            }
            Record::Answer { id, answer, .. } => {
                updates.extend(answer_updates(*id, answer, &results, agent));
            }
            _ => {}
        }
    }
    updates
}

fn answer_updates(
    message: u64,
    answer: &Answer,
    results: &HashMap<(u64, usize), &ToolOutput>,
    agent: &Inner,
) -> Vec<Value> {
    let mut place = 0;
    let mut updates = Vec::new();
    for part in &answer.message.content {
        match part {
            AssistantPart::Text { text } if !text.is_empty() => {
                updates.push(chunk("agent_message_chunk", text));
            }
            AssistantPart::Reasoning { text, .. } if !text.is_empty() => {
                updates.push(chunk("agent_thought_chunk", text));
            }
            AssistantPart::ToolCall(call) => {
                let result = results.get(&(message, place)).copied();
                updates.push(call_update(message, call, result, agent));
                place += 1;
            }
            _ => {}
        }
    }
    updates
}

fn call_update(message: u64, call: &ToolCall, result: Option<&ToolOutput>, agent: &Inner) -> Value {
    let tool = agent.toolkit.tool(&call.name);
    let title = tool.as_ref().map_or(call.name.as_str(), |tool| tool.title()).to_owned();
    let step = tool.as_ref().map(|tool| agent.step_types.of(tool)).unwrap_or_default();
    let result = result.map(|result| (result.to_text(), result.is_error));
    // Not the ids of calls that are still to come.
    let id = format!("m{message}.{}", call.id);
    let result = result.as_ref().map(|(text, is_error)| (text.as_str(), *is_error));
    past_call(&id, &title, kind(step, &call.name), result)
}
