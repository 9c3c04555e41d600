//! The structured content of a result, which a model reads unless the text of the result says the same.

use rmcp::model::ContentBlock;
use serde_json::{Deserializer, Value};

/// Maximum number of places in a text at which JSON is looked for.
const MAX_PLACES: usize = 16;
/// The member in which servers wrap a value that is no object.
const WRAPPER: &str = "result";

/// Returns true if the text of a result contains its structured content: as JSON, alone or within other text, or with one text for each item
/// of a list. A summary of the content does not count.
pub(super) fn is_said(structured: &Value, content: &[ContentBlock]) -> bool {
    let texts: Vec<&str> = content
        .iter()
        .filter_map(|block| match block {
            ContentBlock::Text(text) => Some(text.text.as_str()),
            _ => None,
        })
        .collect();
    is_in(structured, &texts) || wrapped(structured).is_some_and(|value| is_in(value, &texts))
}

/// Returns the value within an object that only wraps it.
fn wrapped(structured: &Value) -> Option<&Value> {
    structured.as_object().filter(|members| members.len() == 1)?.get(WRAPPER)
}

fn is_in(value: &Value, texts: &[&str]) -> bool {
    if texts.iter().any(|text| says(text, value)) {
        return true;
    }
    match value {
        Value::Array(items) => {
            items.len() == texts.len() && items.iter().zip(texts).all(|(item, text)| says(text, item))
        }
        _ => false,
    }
}

fn says(text: &str, value: &Value) -> bool {
    match value {
        Value::String(said) => text == said || is_json_of(text, value),
        Value::Array(_) | Value::Object(_) => contains_json_of(text, value),
        _ => is_json_of(text, value),
    }
}

fn is_json_of(text: &str, value: &Value) -> bool {
    serde_json::from_str(text).is_ok_and(|other: Value| is_same(&other, value))
}

fn contains_json_of(text: &str, value: &Value) -> bool {
    let places = text.match_indices(['{', '[']).take(MAX_PLACES);
    places.into_iter().any(|(at, _)| {
        let first = Deserializer::from_str(&text[at..]).into_iter::<Value>().next();
        first.is_some_and(|found| found.is_ok_and(|found| is_same(&found, value)))
    })
}

/// Compares values: 1 and 1.0 are the same.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one == other || one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            let has_same =
                |(name, value): (&String, &Value)| other.get(name).is_some_and(|other| is_same(value, other));
            one.len() == other.len() && one.iter().all(has_same)
        }
        (one, other) => one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn structured_content_is_said_by_its_json_and_not_by_a_summary() {
        let items = json!({"items": [{"id": 1}, {"id": 2}]});
        for (structured, texts, expected) in [
            (items.clone(), vec!["returned 2 items"], false),
            (items.clone(), vec![], false),
            (items.clone(), vec![r#"{"items":[{"id":1}]}"#], false),
            (items.clone(), vec![r#"{"items": [{"id": 1.0}, {"id": 2}]}"#], true),
            (items.clone(), vec!["Found [2]:\n```json\n{\"items\":[{\"id\":1},{\"id\":2}]}\n```"], true),
            (items, vec!["Found:", r#"{"items":[{"id":1},{"id":2}]}"#], true),
            (json!({"a": true}), vec!["true"], false),
            (json!({"result": true}), vec!["true"], true),
            (json!({"result": "x"}), vec!["x"], true),
            (json!({"result": "x"}), vec!["not x"], false),
            (json!({"result": ["x", {"y": 1}]}), vec!["x", r#"{"y":1}"#], true),
            (json!({"result": ["x", "y"]}), vec!["x"], false),
            (json!({"result": "x", "n": 1}), vec!["x"], false),
            (json!({"result": []}), vec![], true),
        ] {
            let content: Vec<ContentBlock> = texts.iter().copied().map(ContentBlock::text).collect();
            assert_eq!(is_said(&structured, &content), expected, "{structured} {texts:?}");
        }
    }
}
