//! Text of servers with its hidden characters made visible: a model reads it.

use serde_json::{Map, Value};
use std::borrow::Cow;
use toolkit::text::{escape_hidden, escape_line};

/// The keywords of a schema that are text for readers.
const TEXTS: [&str; 3] = ["title", "description", "$comment"];
/// The keywords of a schema that hold values of arguments.
const VALUES: [&str; 4] = ["const", "enum", "default", "examples"];

/// Maximum number of characters of a text beside data.
const MAX_LABEL_CHARS: usize = 500;

/// Makes a text visible.
pub(super) fn text(text: String) -> String {
    match escape_hidden(&text) {
        Cow::Borrowed(_) => text,
        Cow::Owned(escaped) => escaped,
    }
}

/// Makes a text visible that stands beside data, such as a media type, and truncates it: the limits of an output do not count it.
pub(super) fn label(text: String) -> String {
    let mut text = self::text(text);
    if let Some((end, _)) = text.char_indices().nth(MAX_LABEL_CHARS) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// Makes all text in a value visible, names of members too.
pub(super) fn json(value: &mut Value) {
    match value {
        Value::String(said) => *said = text(std::mem::take(said)),
        Value::Array(items) => items.iter_mut().for_each(json),
        Value::Object(members) => {
            members.values_mut().for_each(json);
            if members.keys().any(|name| matches!(escape_hidden(name), Cow::Owned(_))) {
                let renamed = std::mem::take(members).into_iter().map(|(name, value)| (text(name), value));
                *members = renamed.collect();
            }
        }
        _ => {}
    }
}

/// Makes the texts of a schema visible.
///
/// # Errors
///
/// When a name or a value has hidden characters: escaped it would be another one.
pub(super) fn schema(schema: &mut Value) -> Result<(), String> {
    match schema {
        Value::Object(members) => members.iter_mut().try_for_each(|(key, value)| member(key, value)),
        Value::Array(items) => items.iter_mut().try_for_each(self::schema),
        _ => Ok(()),
    }
}

fn member(key: &str, value: &mut Value) -> Result<(), String> {
    plain(key)?;
    match value {
        Value::String(said) if TEXTS.contains(&key) => {
            *said = text(std::mem::take(said));
            Ok(())
        }
        Value::String(said) => plain(said),
        value if VALUES.contains(&key) && !is_schema(value) => all_plain(value),
        // Names of required members are strings in a list.
        Value::Array(items) => items.iter_mut().try_for_each(|item| match item {
            Value::String(said) => plain(said),
            item => schema(item),
        }),
        value => schema(value),
    }
}

/// A property may be called `default`, and then has a schema.
fn is_schema(value: &Value) -> bool {
    let has = |members: &Map<String, Value>| {
        ["type", "$ref", "anyOf", "enum"].iter().any(|key| members.contains_key(*key))
    };
    value.as_object().is_some_and(has)
}

fn all_plain(value: &Value) -> Result<(), String> {
    match value {
        Value::String(said) => plain(said),
        Value::Array(items) => items.iter().try_for_each(all_plain),
        Value::Object(members) => members.iter().try_for_each(|(name, value)| {
            plain(name)?;
            all_plain(value)
        }),
        _ => Ok(()),
    }
}

/// Control characters of ASCII are visible in JSON, which escapes them itself.
fn plain(said: &str) -> Result<(), String> {
    let is_ascii_control = |character: char| character < ' ';
    let shown: Cow<'_, str> = if said.contains(is_ascii_control) {
        said.replace(is_ascii_control, " ").into()
    } else {
        said.into()
    };
    match escape_hidden(&shown) {
        Cow::Borrowed(_) => Ok(()),
        Cow::Owned(_) => {
            Err(format!("its schema has hidden characters in a name or value: {}", escape_line(said)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn texts_of_a_schema_are_shown_and_values_are_not_changed() {
        let mut given = json!({
            "type": "object", "title": "t\u{202e}", "description": "d\u{e0041}",
            "properties": {
                "description": {"type": "string", "description": "a\u{200b}b", "enum": ["\r\n", "\u{1b}", "👩‍🚒"]},
                "default": {"type": "string", "description": "x\u{1b}y", "default": "z"},
            },
            "required": ["description"],
        });
        schema(&mut given).unwrap();
        let properties = &given["properties"];
        assert_eq!((&given["title"], &given["description"]), (&json!(r"t\u{202e}"), &json!(r"d\u{e0041}")));
        assert_eq!(properties["description"]["description"], r"a\u{200b}b");
        assert_eq!(properties["description"]["enum"], json!(["\r\n", "\u{1b}", "👩‍🚒"]));
        assert_eq!(properties["default"]["description"], r"x\u{1b}y");
        for hidden in [
            json!({"properties": {"a\u{202e}": {}}}),
            json!({"properties": {"a": {"enum": ["x\u{200b}"]}}}),
            json!({"properties": {"a": {"const": {"b": ["\u{e0041}"]}}}}),
            json!({"properties": {"a": {"default": "\u{9b}"}}}),
            json!({"properties": {"a": {"pattern": "\u{2066}"}}}),
            json!({"required": ["\u{feff}"]}),
            json!({"anyOf": [{"title": "ok"}, {"format": "\u{200e}"}]}),
        ] {
            let why = schema(&mut hidden.clone()).unwrap_err();
            assert!(why.contains("hidden characters") && why.contains("\\u{"), "{why}");
        }
    }

    #[test]
    fn all_of_a_value_is_shown() {
        let mut value = json!({"a\u{202e}": ["b\u{1b}[2J", {"c": "👩‍🚒\n"}], "n": 1});
        json(&mut value);
        assert_eq!(value, json!({r"a\u{202e}": [r"b\u{1b}[2J", {"c": "👩‍🚒\n"}], "n": 1}));
    }
}
