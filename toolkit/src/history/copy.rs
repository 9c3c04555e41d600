//! Copies the bounded part of a call that a record holds; for most calls it is one text.

use super::entry::{LONGEST, RecordedContent, RecordedOutput};
use crate::ask_record::{BEYOND, LONGEST_PART, beginning};
use crate::tool::Tool;
use serde_json::{Map, Value};
use std::mem;
use std::path::PathBuf;
use toolkit_core::call::CallArguments;
use toolkit_core::content::{Content, ResourceBody};
use toolkit_core::output::ToolOutput;

/// The size in bytes that the arguments and output of most calls take as text.
pub(crate) const USUAL: usize = 192;

/// The form in which the arguments are kept.
#[derive(Clone)]
pub(super) enum Arguments {
    /// As the text that was sent, which may not be JSON.
    Sent,
    /// As JSON text that was written from a value.
    Written,
    /// As a JSON value.
    Value(Value),
}

/// Returns the arguments, their size in bytes apart from `words`, and true if they were cut. Arguments kept as text are
/// appended to `words`.
pub(super) fn copy_arguments(
    tool: Option<&Tool>,
    arguments: &CallArguments,
    words: &mut String,
) -> (Arguments, usize, bool) {
    // A secret that is cut would no longer be recognised if the tool repeats it.
    let has_secrets = |tool: &Tool| tool.compiled().is_ok_and(|compiled| compiled.has_secrets);
    let whole = || tool.is_some_and(has_secrets);
    match arguments.as_text() {
        Ok(text) if text.len() <= LONGEST || whole() => {
            words.push_str(text);
            (Arguments::Sent, 0, false)
        }
        Ok(text) => {
            words.push_str(beginning(text, LONGEST_PART + BEYOND));
            (Arguments::Sent, 0, true)
        }
        Err(value) => {
            let mut room = LONGEST;
            if fits(value, &mut room) || whole() {
                if reads_back(value, 0) && write(value, words) {
                    return (Arguments::Written, 0, false);
                }
                return (Arguments::Value(value.clone()), LONGEST - room, false);
            }
            let mut room = LONGEST;
            let copy = shorten(value, &mut room);
            (Arguments::Value(copy), LONGEST - room, true)
        }
    }
}

/// Appends a value as JSON text; returns true on success, which is always expected.
fn write(value: &Value, words: &mut String) -> bool {
    let id_len = words.len();
    let mut bytes = mem::take(words).into_bytes();
    let is_written = serde_json::to_writer(&mut bytes, value).is_ok();
    *words = String::from_utf8(bytes).expect("an id and JSON are UTF-8");
    if !is_written {
        words.truncate(id_len);
    }
    is_written
}

/// Returns true if the value is the same after it is written and parsed, so its nesting must not be too deep for the
/// parser. Floats are the same, since `jsonschema` switches `float_roundtrip` on.
fn reads_back(value: &Value, depth: usize) -> bool {
    match value {
        Value::Array(items) => depth < 100 && items.iter().all(|item| reads_back(item, depth + 1)),
        Value::Object(members) => depth < 100 && members.values().all(|member| reads_back(member, depth + 1)),
        _ => true,
    }
}

/// Returns the text of an output that is short and has no other content.
pub(super) fn short_text(output: &ToolOutput) -> Option<&str> {
    output.as_text_alone().filter(|text| text.len() <= LONGEST_PART)
}

pub(super) fn copy_output(output: &ToolOutput, bytes: &mut usize, cut: &mut bool) -> Box<RecordedOutput> {
    let mut room = LONGEST;
    let content = output.content.iter().map(|block| copy_block(block, &mut room)).collect();
    let mut fitting = |value: &Value| {
        let mut room = LONGEST;
        let is_fitting = fits(value, &mut room);
        *cut |= !is_fitting;
        *bytes += LONGEST - room;
        is_fitting
    };
    let details = output.details.as_ref().filter(|details| fitting(details)).cloned();
    let metadata = if output.metadata.is_empty() {
        Map::new()
    } else {
        let kept = output.metadata.iter().filter(|(_, value)| fitting(value));
        kept.map(|(name, value)| (name.clone(), value.clone())).collect()
    };
    let paths = |paths: &[PathBuf]| paths.iter().map(|path| path.to_string_lossy().into_owned()).collect();
    *bytes += LONGEST - room + size_of::<RecordedOutput>();
    Box::new(RecordedOutput {
        content,
        details,
        title: output.title.as_ref().map(|title| beginning(title, LONGEST_PART).to_owned()),
        metadata,
        files_modified: paths(&output.files_modified),
        attachments: paths(&output.attachments),
    })
}

fn copy_block(block: &Content, room: &mut usize) -> RecordedContent {
    let mut copy = |text: &str| {
        let kept = beginning(text, *room).len();
        *room -= kept;
        let omitted = text.len() - kept;
        let beyond = if omitted > 0 { BEYOND } else { 0 };
        (beginning(text, kept + beyond).to_owned(), omitted)
    };
    match block {
        Content::Text { text } => {
            let (text, omitted_bytes) = copy(text);
            RecordedContent::Text { text, omitted_bytes }
        }
        Content::Image { data, mime_type } => {
            RecordedContent::Image { mime_type: mime_type.clone(), bytes: data.0.len() }
        }
        Content::Audio { data, mime_type } => {
            RecordedContent::Audio { mime_type: mime_type.clone(), bytes: data.0.len() }
        }
        Content::ResourceLink { uri, name, .. } => {
            RecordedContent::ResourceLink { uri: uri.clone(), name: name.clone() }
        }
        Content::Resource { resource } => {
            let (uri, mime_type) = (resource.uri.clone(), resource.mime_type.clone());
            match &resource.body {
                ResourceBody::Text(text) => {
                    let (text, omitted_bytes) = copy(text);
                    RecordedContent::Resource { uri, mime_type, text: Some(text), omitted_bytes }
                }
                ResourceBody::Blob(data) => {
                    RecordedContent::Resource { uri, mime_type, text: None, omitted_bytes: data.0.len() }
                }
            }
        }
        // The enum has no further kinds; one that is added is recorded as its JSON until it has a place here.
        other => {
            let (text, omitted_bytes) = copy(&serde_json::to_string(other).unwrap_or_default());
            RecordedContent::Text { text, omitted_bytes }
        }
    }
}

/// Returns true if the value fits into the room.
pub(super) fn fits(value: &Value, room: &mut usize) -> bool {
    let own = size_of::<Value>() + if let Value::String(text) = value { text.len() } else { 0 };
    let Some(rest) = room.checked_sub(own) else { return false };
    *room = rest;
    match value {
        Value::Array(items) => items.iter().all(|item| fits(item, room)),
        Value::Object(members) => members.iter().all(|(name, member)| {
            *room = room.saturating_sub(name.len() + size_of::<usize>());
            fits(member, room)
        }),
        _ => true,
    }
}

/// Returns as much of a value as fits into the room, with long strings cut.
pub(super) fn shorten(value: &Value, room: &mut usize) -> Value {
    *room = room.saturating_sub(size_of::<Value>());
    match value {
        Value::String(text) => {
            let text = beginning(text, LONGEST_PART + BEYOND);
            *room = room.saturating_sub(text.len());
            text.into()
        }
        Value::Array(items) => {
            let mut kept = Vec::new();
            for item in items {
                if *room == 0 {
                    break;
                }
                kept.push(shorten(item, room));
            }
            kept.into()
        }
        Value::Object(members) => {
            let mut kept = Map::new();
            for (name, member) in members {
                if *room == 0 {
                    break;
                }
                let name = beginning(name, LONGEST_PART);
                *room = room.saturating_sub(name.len());
                kept.insert(name.to_owned(), shorten(member, room));
            }
            kept.into()
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn comes_back(value: &Value) -> bool {
        let mut words = "call_1".to_owned();
        let (arguments, _, cut) = copy_arguments(None, &value.clone().into(), &mut words);
        let copy = match arguments {
            Arguments::Value(copy) => copy,
            Arguments::Sent | Arguments::Written => serde_json::from_str(&words[6..]).unwrap_or_default(),
        };
        !cut && copy == *value
    }

    #[test]
    fn a_value_that_is_kept_as_text_comes_back() {
        let deep = (0..150).fold(json!({}), |inner, _| json!([inner]));
        for value in [
            json!({}),
            json!({"a": [1, -1, u64::MAX, i64::MIN, null, true, "\"\\\n\u{0}ä"]}),
            json!({"a": deep}),
        ] {
            assert!(comes_back(&value), "{value}");
        }
    }

    proptest! {
        #[test]
        fn a_float_comes_back(float in any::<f64>()) {
            let value = json!({"f": float});
            prop_assert!(comes_back(&value), "{value}");
        }
    }
}
