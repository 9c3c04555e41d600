//! Converts values that were given as strings.

use super::RepairKind;
use super::fence::without_wrapping;
use crate::schema::{DEEPEST, resolve};
use crate::unique_json as json;
use serde_json::{Number, Value};

/// The greatest integer up to which all integers have an exact float.
const GREATEST_EXACT: f64 = 9_007_199_254_740_992.0;

/// A set of kinds of JSON values, as a schema allows them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kinds(u8);

impl Kinds {
    const NONE: Self = Self(0);
    pub(super) const NULL: Self = Self(1);
    pub(super) const BOOLEAN: Self = Self(1 << 1);
    pub(super) const INTEGER: Self = Self(1 << 2);
    pub(super) const NUMBER: Self = Self(1 << 3);
    pub(super) const STRING: Self = Self(1 << 4);
    pub(super) const ARRAY: Self = Self(1 << 5);
    pub(super) const OBJECT: Self = Self(1 << 6);
    const ANY: Self = Self(u8::MAX);

    /// Returns the kinds that `schema` allows by its types, its values or its variants.
    pub(super) fn of_schema(schema: &Value, root: &Value) -> Self {
        Self::within(schema, root, 0)
    }

    pub(super) fn of_value(value: &Value) -> Self {
        match value {
            Value::Null => Self::NULL,
            Value::Bool(_) => Self::BOOLEAN,
            Value::Number(number) if number.is_f64() => Self::NUMBER,
            // Two kinds have no bit in common, so `|` and `^` are the same here and in `named`: no test can
            // tell them apart.
            Value::Number(_) => Self(Self::NUMBER.0 | Self::INTEGER.0),
            Value::String(_) => Self::STRING,
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        }
    }

    pub(super) fn has_any_of(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    fn within(schema: &Value, root: &Value, depth: usize) -> Self {
        let Some(members) = resolve(schema, root).as_object().filter(|_| depth < DEEPEST) else {
            return Self::ANY;
        };
        let any_of = |parts: &mut dyn Iterator<Item = Self>| Self(parts.fold(0, |all, part| all | part.0));
        match members.get("type") {
            Some(Value::Array(kinds)) => return any_of(&mut kinds.iter().map(Self::named)),
            Some(kind) => return Self::named(kind),
            None => {}
        }
        if let Some(value) = members.get("const") {
            return Self::of_value(value);
        }
        if let Some(values) = members.get("enum").and_then(Value::as_array) {
            return any_of(&mut values.iter().map(Self::of_value));
        }
        for key in ["oneOf", "anyOf"] {
            if let Some(options) = members.get(key).and_then(Value::as_array) {
                return any_of(&mut options.iter().map(|option| Self::within(option, root, depth + 1)));
            }
        }
        let parts = members.get("allOf").and_then(Value::as_array).into_iter().flatten();
        parts.fold(Self::ANY, |all, part| Self(all.0 & Self::within(part, root, depth + 1).0))
    }

    fn named(name: &Value) -> Self {
        match name.as_str() {
            Some("null") => Self::NULL,
            Some("boolean") => Self::BOOLEAN,
            Some("integer") => Self::INTEGER,
            Some("number") => Self(Self::NUMBER.0 | Self::INTEGER.0),
            Some("string") => Self::STRING,
            Some("array") => Self::ARRAY,
            Some("object") => Self::OBJECT,
            _ => Self::NONE,
        }
    }
}

/// Returns the value of `text` for a schema that allows `kinds`, but no strings. There is at most one, because a text
/// has one form.
pub(super) fn from_text(text: &str, kinds: Kinds) -> Option<(Value, RepairKind)> {
    if kinds.has_any_of(Kinds::STRING) {
        return None;
    }
    let trimmed = text.trim();
    match trimmed.as_bytes().first()? {
        b'-' | b'0'..=b'9' if kinds.has_any_of(Kinds::NUMBER) => {
            number(trimmed).map(|number| (number.into(), RepairKind::StringToNumber))
        }
        b'-' | b'0'..=b'9' if kinds.has_any_of(Kinds::INTEGER) => {
            integer(trimmed).map(|number| (number.into(), RepairKind::StringToNumber))
        }
        b'T' | b't' | b'F' | b'f' if kinds.has_any_of(Kinds::BOOLEAN) => {
            boolean(trimmed).map(|boolean| (boolean.into(), RepairKind::StringToBoolean))
        }
        b'n' | b'N' if kinds.has_any_of(Kinds::NULL) && is_null(trimmed) => {
            Some((Value::Null, RepairKind::StringToNull))
        }
        // Only objects and lists are parsed as JSON.
        _ => {
            let value = json::parse(trimmed)
                .ok()
                .or_else(|| without_wrapping(trimmed).and_then(|within| json::parse(within).ok()))?;
            match value {
                Value::Object(_) if kinds.has_any_of(Kinds::OBJECT) => {
                    Some((value, RepairKind::StringToObject))
                }
                Value::Array(_) if kinds.has_any_of(Kinds::ARRAY) => Some((value, RepairKind::StringToList)),
                _ => None,
            }
        }
    }
}

/// Returns true if a text is `null`, as JSON or Python writes it.
pub(in super::super) fn is_null(text: &str) -> bool {
    matches!(text.trim(), "null" | "None")
}

fn boolean(text: &str) -> Option<bool> {
    [("true", true), ("false", false)]
        .into_iter()
        .find_map(|(word, value)| text.eq_ignore_ascii_case(word).then_some(value))
}

fn number(text: &str) -> Option<Number> {
    match json::parse(text).ok()? {
        Value::Number(number) => Some(number),
        _ => None,
    }
}

/// Parses an integer, and refuses one that a float would round.
fn integer(text: &str) -> Option<Number> {
    let number = number(text)?;
    if !text.contains(['e', 'E']) {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let is_whole = fraction.bytes().all(|digit| digit == b'0');
        let whole =
            || whole.parse::<u64>().map(Number::from).or_else(|_| whole.parse::<i64>().map(Number::from));
        return is_whole.then(whole)?.ok();
    }
    let float = number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() < GREATEST_EXACT)?;
    #[expect(clippy::cast_possible_truncation, reason = "without a fraction and below 2^53")]
    Some(Number::from(float as i64))
}

#[cfg(test)]
mod tests {
    use super::super::super::tests::nested;
    use super::*;
    use serde_json::json;

    fn read(text: &str, schema: &Value) -> Option<Value> {
        from_text(text, Kinds::of_schema(schema, schema)).map(|(value, _)| value)
    }

    #[test]
    fn integers() {
        let schema = json!({"type": "integer"});
        for (text, expected) in [
            ("5", json!(5)),
            (" 5\n", json!(5)),
            ("-3", json!(-3)),
            ("5.0", json!(5)),
            ("5.000", json!(5)),
            ("-0.0", json!(0)),
            ("1e3", json!(1000)),
            ("1.5E1", json!(15)),
            ("18446744073709551615", json!(u64::MAX)),
            ("18446744073709551615.0", json!(u64::MAX)),
            ("9007199254740993.0", json!(9_007_199_254_740_993_i64)),
            ("9007199254740991e0", json!(9_007_199_254_740_991_i64)),
            ("-9007199254740991e0", json!(-9_007_199_254_740_991_i64)),
        ] {
            assert_eq!(read(text, &schema), Some(expected), "{text}");
        }
        for text in [
            "5.5",
            "1,000",
            "1_000",
            "0x10",
            "010",
            "+5",
            "5.",
            ".5",
            "NaN",
            "",
            "-",
            "--1",
            "5 6",
            "five",
            "1e400",
            "18446744073709551616",
            "18446744073709551616.0",
            "1.5e0",
            "9007199254740992e0",
            "9007199254740993e0",
            "1.00000000000000000000001",
            "5%",
            "5px",
            "٥",
            "[5]",
            "\"5\"",
            "true",
        ] {
            assert_eq!(read(text, &schema), None, "{text}");
        }
    }

    #[test]
    fn other_kinds() {
        for (schema, text, expected) in [
            (json!({"type": "number"}), "5", Some(json!(5))),
            (json!({"type": "number"}), "-0.5e-3", Some(json!(-0.5e-3))),
            (json!({"type": "number"}), "Infinity", None),
            (json!({"type": "boolean"}), "true", Some(json!(true))),
            (json!({"type": "boolean"}), "False", Some(json!(false))),
            (json!({"type": "boolean"}), "TRUE ", Some(json!(true))),
            (json!({"type": "boolean"}), "1", None),
            (json!({"type": "boolean"}), "yes", None),
            (json!({"type": ["integer", "null"]}), "null", Some(json!(null))),
            (json!({"type": ["integer", "null"]}), "None", Some(json!(null))),
            (json!({"type": "integer"}), "null", None),
            (json!({"type": "object"}), "{\"a\":1}", Some(json!({"a": 1}))),
            (json!({"type": "object"}), "```json\n{\"a\":1}\n```", Some(json!({"a": 1}))),
            (json!({"type": "object"}), "{\"a\":1,\"a\":2}", None),
            (json!({"type": "object"}), "[]", None),
            (json!({"type": "object"}), "{'a': 1}", None),
            (json!({"type": "array"}), " [1, 2] ", Some(json!([1, 2]))),
            (json!({"type": "array"}), "{}", None),
            (json!({"type": ["integer", "string"]}), "5", None),
            (json!({"enum": [1, 2]}), "2", Some(json!(2))),
            (json!({"const": true}), "true", Some(json!(true))),
            (json!({"anyOf": [{"type": "integer"}, {"type": "boolean"}]}), "5", Some(json!(5))),
            (json!({"allOf": [{"type": ["integer", "string"]}, {"type": "integer"}]}), "5", Some(json!(5))),
            (json!({"allOf": [{"type": "integer"}]}), "5", Some(json!(5))),
            (json!({"type": ["integer", "number"]}), "5.5", Some(json!(5.5))),
            (json!({}), "5", None),
            (json!(true), "5", None),
        ] {
            assert_eq!(read(text, &schema), expected, "{text} {schema}");
        }
    }

    #[test]
    fn schemas_are_followed_as_deep_as_text_can_nest() {
        for (depth, is_read) in [(1, true), (DEEPEST - 1, true), (DEEPEST, false)] {
            for key in ["allOf", "oneOf", "anyOf"] {
                let schema = nested(key, depth, json!({"type": "integer"}));
                assert_eq!(read("5", &schema).is_some(), is_read, "{key} {depth}");
            }
        }
    }
}
