//! Whether a schema takes `null`, and how it comes to.

use super::document::Document;
use serde_json::{Map, Value, json};
use std::cell::Cell;

/// Marks a property that may be `null` only since it has to be there: `null` stands for what is absent.
pub(in crate::dialect) const NULL_IS_ABSENT: &str = "\u{0}null is absent";

/// The schema as it is shown.
pub(super) fn without_marks(schema: &Value) -> Value {
    match schema {
        Value::Object(members) => members
            .iter()
            .filter(|(key, _)| *key != NULL_IS_ABSENT)
            .map(|(key, member)| (key.clone(), without_marks(member)))
            .collect(),
        Value::Array(items) => items.iter().map(without_marks).collect(),
        other => other.clone(),
    }
}

/// A written schema that takes `null` as well.
pub(super) fn nullable(schema: Value) -> Value {
    let Value::Object(mut members) = schema else { return schema };
    if members.is_empty() {
        return members.into();
    }
    if let Some(Value::Array(options)) = members.get_mut("anyOf") {
        let null = json!({"type": "null"});
        if !options.contains(&null) {
            options.push(null);
        }
        return members.into();
    }
    match members.get_mut("type") {
        Some(Value::String(kind)) if kind == "null" => {}
        Some(Value::String(kind)) => {
            let kind = std::mem::take(kind);
            members.insert("type".into(), json!([kind, "null"]));
        }
        Some(Value::Array(kinds)) if !kinds.iter().any(|kind| kind == "null") => kinds.push("null".into()),
        _ => {}
    }
    if let Some(Value::Array(values)) = members.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    members.into()
}

/// The most parts of a schema that are asked about `null`: references can name the same parts again and again.
const MOST_ASKED: u32 = 10_000;

/// Whether `null` fits a schema. Exact, but that it says yes where a schema nests too deep, or asks too much.
pub(super) fn takes_null(schema: &Value, document: &Document, depth: usize) -> bool {
    takes(schema, document, depth, &Cell::new(MOST_ASKED))
}

fn takes(schema: &Value, document: &Document, depth: usize, left: &Cell<u32>) -> bool {
    let members = match schema {
        Value::Bool(allows) => return *allows,
        Value::Object(members) if depth <= super::DEEPEST && left.get() > 0 => members,
        _ => return true,
    };
    left.set(left.get() - 1);
    let takes = |schema: &Value| takes(schema, document, depth + 1, left);
    let list = |key: &str| members.get(key).and_then(Value::as_array);
    own_words_take_null(members)
        && members
            .get("$ref")
            .and_then(Value::as_str)
            .and_then(|reference| document.find(reference))
            .is_none_or(takes)
        && list("allOf").is_none_or(|parts| parts.iter().all(takes))
        && list("anyOf").is_none_or(|options| options.iter().any(takes))
        && list("oneOf").is_none_or(|options| options.iter().filter(|option| takes(option)).count() == 1)
        && members.get("not").is_none_or(|not| !takes(not))
        && members.get("if").is_none_or(|condition| {
            let then = if takes(condition) { "then" } else { "else" };
            members.get(then).is_none_or(takes)
        })
}

fn own_words_take_null(members: &Map<String, Value>) -> bool {
    let kinds = match members.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "null"),
        Some(kind) => kind == "null",
        None => true,
    };
    kinds
        && members.get("const").is_none_or(Value::is_null)
        && members.get("enum").and_then(Value::as_array).is_none_or(|values| values.contains(&Value::Null))
}
