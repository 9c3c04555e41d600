//! Gemini: parts with a `functionCall`. The names of keys are those of its interface, or those of its Python library.

use super::{CallFormatError, Found, Reader, from_value};
use serde_json::{Map, Value};

pub(super) fn find(reader: Reader, answer: &Value) -> Result<Vec<Found>, CallFormatError> {
    let (parts, at) = parts_of(reader, answer)?;
    let mut found = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        let at = format!("{at}/{index}");
        let part = reader.object(part, &at)?;
        for key in ["functionCall", "function_call"] {
            if let Some(call) = part.get(key).filter(|call| !call.is_null()) {
                let at = format!("{at}/{key}");
                found.push(function_call(reader, reader.object(call, &at)?, &at)?);
            }
        }
    }
    Ok(found)
}

/// The parts of the first candidate.
fn parts_of(reader: Reader, answer: &Value) -> Result<(&[Value], String), CallFormatError> {
    if let Value::Array(parts) = answer {
        return Ok((parts, String::new()));
    }
    let mut here = reader.object(answer, "")?;
    let mut at = String::new();
    if let Some(candidates) = here.get("candidates") {
        let Some(first) = reader.list(Some(candidates), "/candidates")?.first() else { return Ok((&[], at)) };
        at.push_str("/candidates/0");
        here = reader.object(first, &at)?;
    }
    if let Some(content) = here.get("content") {
        if content.is_null() {
            return Ok((&[], at));
        }
        at.push_str("/content");
        here = reader.object(content, &at)?;
    }
    at.push_str("/parts");
    Ok((reader.list(here.get("parts"), &at)?, at))
}

fn function_call(reader: Reader, call: &Map<String, Value>, at: &str) -> Result<Found, CallFormatError> {
    let is_partial =
        ["willContinue", "will_continue"].iter().any(|key| call.get(*key) == Some(&Value::Bool(true)));
    let partial =
        ["partialArgs", "partial_args"].iter().find_map(|key| call.get(*key).filter(|args| !args.is_null()));
    if is_partial || partial.is_some() {
        let expected = "whole arguments (leave `streamFunctionCallArguments` off)";
        return Err(reader.wrong(&format!("{at}/args"), expected, partial));
    }
    Ok(Found {
        id: reader.id(call.get("id"), &format!("{at}/id"))?,
        name: reader.name(call.get("name"), &format!("{at}/name"))?,
        arguments: from_value(call.get("args")),
    })
}
