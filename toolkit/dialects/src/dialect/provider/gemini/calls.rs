//! Gemini: parts with a `functionCall`. Keys are named as in its interface, or as in its Python library.

use crate::dialect::calls::{CallFormatError, Found, Reader, from_value};
use serde_json::{Map, Value};

pub(super) fn find(reader: Reader, answer: &Value) -> Result<Vec<Found>, CallFormatError> {
    let mut found = Vec::new();
    match answer {
        // Parts, or the responses of an answer that is streamed without server-sent events.
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                let at = format!("/{index}");
                let members = reader.object(item, &at)?;
                if ["candidates", "content", "parts"].iter().any(|key| members.contains_key(*key)) {
                    response(reader, item, at, &mut found)?;
                } else {
                    part(reader, members, &at, &mut found)?;
                }
            }
        }
        answer => response(reader, answer, String::new(), &mut found)?,
    }
    Ok(found)
}

fn response(
    reader: Reader,
    answer: &Value,
    at: String,
    found: &mut Vec<Found>,
) -> Result<(), CallFormatError> {
    let (parts, at) = parts_of(reader, answer, at)?;
    for (index, item) in parts.iter().enumerate() {
        let at = format!("{at}/{index}");
        part(reader, reader.object(item, &at)?, &at, found)?;
    }
    Ok(())
}

fn part(
    reader: Reader,
    part: &Map<String, Value>,
    at: &str,
    found: &mut Vec<Found>,
) -> Result<(), CallFormatError> {
    for key in ["functionCall", "function_call"] {
        if let Some(call) = part.get(key).filter(|call| !call.is_null()) {
            let at = format!("{at}/{key}");
            found.push(function_call(reader, reader.object(call, &at)?, &at)?);
        }
    }
    Ok(())
}

/// Returns the parts of the first candidate.
fn parts_of(reader: Reader, answer: &Value, mut at: String) -> Result<(&[Value], String), CallFormatError> {
    let mut here = reader.object(answer, &at)?;
    if let Some(candidates) = here.get("candidates") {
        at.push_str("/candidates");
        let Some(first) = reader.list(Some(candidates), &at)?.first() else { return Ok((&[], at)) };
        at.push_str("/0");
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
