//! A transcript, as the updates of a session that is loaded.

use super::content::{chunk, kind};
use super::updates::past_call;
use crate::agent::Inner;
use crate::transcript::{CarriedMessage, Kind, Record};
use serde_json::Value;
use std::collections::HashMap;
use toolkit::{Content, ToolCall};
use toolkit_models::{AssistantMessage, AssistantPart, Message, ToolOutput, ToolResults, UserMessage};

/// The updates for all that was said and done, in order, also before messages were summarised.
pub(super) fn replay(records: &[Record], agent: &Inner) -> Vec<Value> {
    let mut results: HashMap<(u64, usize), &ToolOutput> = HashMap::new();
    for record in records {
        match record {
            Record::Result { answer, call, output, .. } => {
                results.insert((*answer, *call), output);
            }
            Record::Carried(carried) => {
                for CarriedMessage { id, message, .. } in &carried.messages {
                    let Message::Tools(ToolResults { results: of_answer }) = message else { continue };
                    for (place, output) in of_answer.iter().enumerate() {
                        results.insert((id.saturating_sub(1), place), output);
                    }
                }
            }
            _ => {}
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
            } => updates.extend(user_updates(message, "user_message_chunk", consumes.first())),
            Record::Answer { id, answer, .. } => {
                updates.extend(answer_updates(*id, &answer.message, &results, agent));
            }
            // The segments before are not there any more.
            Record::Carried(carried) => {
                for CarriedMessage { id, kind, message } in &carried.messages {
                    match (kind, message) {
                        (Kind::Task | Kind::Addition, Message::User(message)) => {
                            updates.extend(user_updates(message, "user_message_chunk", None));
                        }
                        (Kind::Summary, Message::User(message)) => {
                            updates.extend(user_updates(message, "agent_message_chunk", None));
                        }
                        (_, Message::Assistant(answer)) => {
                            updates.extend(answer_updates(*id, answer, &results, agent));
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
    updates
}

fn user_updates(message: &UserMessage, update: &str, id: Option<&String>) -> Vec<Value> {
    let texts = message.content.iter().filter_map(Content::as_text);
    texts
        .map(|text| {
            let mut update = chunk(update, text);
            if let Some(id) = id {
                update["messageId"] = id.as_str().into();
            }
            update
        })
        .collect()
}

fn answer_updates(
    message: u64,
    answer: &AssistantMessage,
    results: &HashMap<(u64, usize), &ToolOutput>,
    agent: &Inner,
) -> Vec<Value> {
    let mut place = 0;
    let mut updates = Vec::new();
    for part in &answer.content {
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
