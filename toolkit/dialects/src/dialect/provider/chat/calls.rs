//! OpenAI's Chat Completions: `tool_calls` of a message, also within a completion.

use crate::dialect::calls::{CallFormatError, Found, Reader, failed, from_value, refuse_cut};
use serde_json::Value;

pub(super) fn find(reader: Reader, answer: &Value) -> Result<Vec<Found>, CallFormatError> {
    let whole = reader.object(answer, "")?;
    let (message, at, finish) = match whole.get("choices") {
        Some(choices) => match reader.list(Some(choices), "/choices")?.first() {
            None => return Ok(Vec::new()),
            Some(choice) => {
                let choice = reader.object(choice, "/choices/0")?;
                if choice.get("finish_reason").and_then(Value::as_str) == Some("error") {
                    return Err(failed(choice.get("error")));
                }
                (choice.get("message"), "/choices/0/message", choice.get("finish_reason"))
            }
        },
        None => match whole.get("message") {
            Some(message) => (Some(message), "/message", whole.get("finish_reason")),
            None => (Some(answer), "", None),
        },
    };
    let Some(message) = message.filter(|message| !message.is_null()) else { return Ok(Vec::new()) };
    let message = reader.object(message, at)?;
    let at = format!("{at}/tool_calls");
    let mut found = Vec::new();
    for (index, call) in reader.list(message.get("tool_calls"), &at)?.iter().enumerate() {
        found.extend(one(reader, call, &format!("{at}/{index}"))?);
    }
    if matches!(finish.and_then(Value::as_str), Some("length" | "content_filter")) {
        refuse_cut(&found)?;
    }
    Ok(found)
}

fn one(reader: Reader, call: &Value, at: &str) -> Result<Option<Found>, CallFormatError> {
    let call = reader.object(call, at)?;
    let (key, arguments) = match call.get("type").and_then(Value::as_str) {
        None | Some("function") => ("function", "arguments"),
        Some("custom") => ("custom", "input"),
        // A kind of call that was never offered.
        Some(_) => return Ok(None),
    };
    let at_function = format!("{at}/{key}");
    let function = call.get(key).ok_or_else(|| reader.wrong(&at_function, "an object", None))?;
    let function = reader.object(function, &at_function)?;
    Ok(Some(Found {
        id: reader.id(call.get("id"), &format!("{at}/id"))?,
        name: reader.name(function.get("name"), &format!("{at_function}/name"))?,
        arguments: from_value(function.get(arguments)),
    }))
}
