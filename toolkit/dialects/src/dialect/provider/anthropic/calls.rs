//! Anthropic's Messages: blocks of the type `tool_use`.

use crate::dialect::calls::{CallFormatError, Found, Reader, from_value};
use serde_json::{Map, Value};

pub(super) fn find(reader: Reader, answer: &Value) -> Result<Vec<Found>, CallFormatError> {
    let (blocks, at, stop) = match answer {
        Value::Array(blocks) => (blocks.as_slice(), "", None),
        Value::Object(message) => {
            let blocks = match message.get("content") {
                Some(Value::String(_)) => &[][..],
                content => reader.list(content, "/content")?,
            };
            (blocks, "/content", message.get("stop_reason"))
        }
        other => return Err(reader.wrong("", "an object or a list", Some(other))),
    };
    let mut found = Vec::new();
    let mut ends_with_call = false;
    for (index, block) in blocks.iter().enumerate() {
        let at = format!("{at}/{index}");
        let block = reader.object(block, &at)?;
        ends_with_call = block.get("type").and_then(Value::as_str) == Some("tool_use");
        if ends_with_call {
            found.push(tool_use(reader, block, &at)?);
        }
    }
    match found.last() {
        // The partial input was completed to an object, so it cannot be known how much is missing.
        Some(call) if ends_with_call && stop.and_then(Value::as_str).is_some_and(is_cut) => {
            Err(CallFormatError::CutOff { name: call.name.clone() })
        }
        _ => Ok(found),
    }
}

/// Returns true if an answer with this stop reason may be incomplete.
pub(super) fn is_cut(stop: &str) -> bool {
    matches!(stop, "max_tokens" | "model_context_window_exceeded" | "refusal")
}

pub(super) fn tool_use(
    reader: Reader,
    block: &Map<String, Value>,
    at: &str,
) -> Result<Found, CallFormatError> {
    Ok(Found {
        id: reader.id(block.get("id"), &format!("{at}/id"))?,
        name: reader.name(block.get("name"), &format!("{at}/name"))?,
        arguments: from_value(block.get("input")),
    })
}
