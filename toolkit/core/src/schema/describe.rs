//! Describes schemas in words, for error messages.

use super::{Compiled, duration, resolve};
pub use crate::excerpt::cut;
use serde_json::Value;
use std::fmt::Write as _;

/// The maximum number of values or names that are listed.
const MAX_LISTED: usize = 24;
/// The maximum number of characters of one value in a list.
const LONGEST_VALUE: usize = 60;
/// The maximum depth of nested schemas in a description.
const DEEPEST_WORD: usize = 3;

impl Compiled {
    /// Returns the schema at a path that a validator reports, with references resolved.
    pub(crate) fn schema_at(&self, path: &str) -> Option<&Value> {
        let mut schema = &self.schema;
        for step in path.split('/').skip(1) {
            let step = crate::pointer::unescape(step);
            schema = match schema {
                _ if step == "$ref" => resolve(schema, &self.schema),
                Value::Array(items) => items.get(step.parse::<usize>().ok()?)?,
                Value::Object(members) => match members.get(&step) {
                    Some(member) => member,
                    None => resolve(schema, &self.schema).get(&step)?,
                },
                _ => return None,
            };
        }
        Some(schema)
    }

    /// Returns the schema that contains the keyword at the end of `path`.
    pub(crate) fn schema_around(&self, path: &str) -> Option<&Value> {
        self.schema_at(path.rsplit_once('/')?.0).map(|schema| resolve(schema, &self.schema))
    }

    /// Describes the values that a schema allows, for the model: `an integer of at least 1`.
    #[doc(hidden)]
    pub fn describe_type(&self, schema: &Value) -> String {
        describe(schema, &self.schema)
    }

    /// Describes the schema whose keyword `violated` is at the end of `path`; that keyword is never left out.
    pub(crate) fn describe_around(&self, path: &str) -> Option<String> {
        let violated = path.rsplit_once('/')?.1;
        Some(Words { root: &self.schema, violated }.describe(self.schema_around(path)?, 0))
    }
}

/// Describes the values that `schema` allows; `root` is its document.
#[doc(hidden)]
pub fn describe(schema: &Value, root: &Value) -> String {
    Words { root, violated: "" }.describe(schema, 0)
}

struct Words<'a> {
    root: &'a Value,
    violated: &'a str,
}

impl Words<'_> {
    fn describe(&self, schema: &Value, depth: usize) -> String {
        let schema = resolve(schema, self.root);
        if let Some(options) = literals(schema) {
            return match options.as_slice() {
                [only] => plain(only),
                _ => format!("one of {}", join(&options)),
            };
        }
        if schema == &Value::Bool(false) {
            return "nothing".to_owned();
        }
        let kinds: Vec<&str> = match schema.get("type") {
            Some(Value::String(kind)) => vec![kind],
            Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let is_duration = schema.get("pattern").is_some_and(|pattern| pattern == duration::PATTERN);
        let options = schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array);
        let mut text = match options {
            Some(options) if kinds.is_empty() && depth < DEEPEST_WORD => {
                alternatives(options.iter().map(|option| self.describe(option, depth + 1)))
            }
            _ if kinds.is_empty() => "a value".to_owned(),
            _ => alternatives(kinds.iter().map(|kind| match *kind {
                "string" if is_duration => duration::WORDS.to_owned(),
                kind => with_article(kind),
            })),
        };
        self.add_range(&mut text, schema);
        self.add_lengths(&mut text, schema);
        if let Some(step) = schema.get("multipleOf") {
            let _ = write!(text, " that is a multiple of {step}");
        }
        if let Some(pattern) = schema.get("pattern").and_then(Value::as_str).filter(|_| !is_duration) {
            let _ = write!(text, " that matches the pattern {pattern}");
        }
        if let Some(format) = schema.get("format").and_then(Value::as_str) {
            let _ = write!(text, " in the format `{format}`");
        }
        if schema.get("uniqueItems") == Some(&Value::Bool(true)) {
            text.push_str(" without repeated items");
        }
        if depth < DEEPEST_WORD {
            for (key, lead) in [
                ("contains", " with at least one item that is "),
                ("propertyNames", " whose names are each "),
                ("not", " that is not "),
            ] {
                if let Some(part) = schema.get(key) {
                    let _ = write!(text, "{lead}{}", self.describe(part, depth + 1));
                }
            }
        }
        text
    }

    fn add_range(&self, text: &mut String, schema: &Value) {
        match (self.bound(schema, "minimum"), self.bound(schema, "maximum")) {
            (Some(least), Some(greatest)) if least == greatest => {
                let _ = write!(text, " that is {least}");
            }
            (Some(least), Some(greatest)) => {
                let _ = write!(text, " from {least} to {greatest}");
            }
            (Some(least), None) => {
                let _ = write!(text, " of at least {least}");
            }
            (None, Some(greatest)) => {
                let _ = write!(text, " of at most {greatest}");
            }
            (None, None) => {}
        }
        if let Some(limit) = self.bound(schema, "exclusiveMaximum") {
            let _ = write!(text, " below {limit}");
        }
        if let Some(limit) = self.bound(schema, "exclusiveMinimum") {
            let _ = write!(text, " above {limit}");
        }
    }

    fn add_lengths(&self, text: &mut String, schema: &Value) {
        for (least, greatest, one, many) in [
            ("minLength", "maxLength", "character", "characters"),
            ("minItems", "maxItems", "item", "items"),
            ("minProperties", "maxProperties", "entry", "entries"),
        ] {
            let unit = |count: &Value| if count.as_u64() == Some(1) { one } else { many };
            let _ = match (self.bound(schema, least), self.bound(schema, greatest)) {
                (Some(least), Some(greatest)) if least == greatest => {
                    write!(text, " of exactly {least} {}", unit(least))
                }
                (Some(least), Some(greatest)) => write!(text, " of {least} to {greatest} {}", unit(greatest)),
                (Some(least), None) => write!(text, " of at least {least} {}", unit(least)),
                (None, Some(greatest)) => write!(text, " of at most {greatest} {}", unit(greatest)),
                (None, None) => Ok(()),
            };
        }
    }

    /// Returns a bound that is informative. The limits of 64-bit integers and of 32-bit floats belong to the type, and
    /// are left out unless they were violated.
    fn bound<'a>(&self, schema: &'a Value, key: &str) -> Option<&'a Value> {
        let bound = schema.get(key)?;
        let is_noise = bound.as_i64() == Some(i64::MIN)
            || bound.as_i64() == Some(i64::MAX)
            || bound.as_u64() == Some(u64::MAX)
            || bound.is_f64() && bound.as_f64().is_some_and(|bound| bound.abs() >= f64::from(f32::MAX));
        (!is_noise || key == self.violated).then_some(bound)
    }
}

fn with_article(kind: &str) -> String {
    match kind {
        "null" => kind.to_owned(),
        "integer" | "array" | "object" => format!("an {kind}"),
        _ => format!("a {kind}"),
    }
}

/// Joins unique words with `or`.
#[doc(hidden)]
pub fn alternatives(words: impl IntoIterator<Item = String>) -> String {
    let mut each: Vec<String> = Vec::new();
    for word in words {
        if !each.contains(&word) {
            each.push(word);
        }
    }
    cut_list(&each, " or ")
}

/// Returns the values of an enumeration.
#[doc(hidden)]
pub fn literals(schema: &Value) -> Option<Vec<Value>> {
    if let Some(value) = schema.get("const") {
        return Some(vec![value.clone()]);
    }
    if let Some(options) = schema.get("enum").and_then(Value::as_array) {
        return Some(options.clone());
    }
    // schemars writes a documented enum as one `const` per variant.
    let options = schema.get("oneOf")?.as_array()?;
    options.iter().map(|option| option.get("const").cloned()).collect()
}

/// Joins values as JSON, with commas.
#[doc(hidden)]
pub fn join(values: &[Value]) -> String {
    cut_list(&values.iter().take(MAX_LISTED + 1).map(plain).collect::<Vec<_>>(), ", ")
}

/// Formats a value as JSON, truncated to a readable length.
#[doc(hidden)]
pub fn plain(value: &Value) -> String {
    cut(&value.to_string(), LONGEST_VALUE)
}

/// Joins the first of many texts and leaves out the rest.
pub(crate) fn cut_list(texts: &[String], between: &str) -> String {
    match texts.get(..MAX_LISTED) {
        Some(first) if texts.len() > MAX_LISTED => format!("{}{between}…", first.join(between)),
        _ => texts.join(between),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_keyword_has_its_words() {
        for (schema, expected) in [
            (json!(true), "a value"),
            (json!({}), "a value"),
            (json!(false), "nothing"),
            (json!({"type": "null"}), "null"),
            (json!({"type": "string"}), "a string"),
            (json!({"type": ["object", "null"]}), "an object or null"),
            (json!({"type": "integer", "minimum": 1}), "an integer of at least 1"),
            (json!({"type": "integer", "maximum": 9}), "an integer of at most 9"),
            (json!({"type": "integer", "minimum": 1, "maximum": 9}), "an integer from 1 to 9"),
            (json!({"type": "integer", "minimum": 4, "maximum": 4}), "an integer that is 4"),
            (json!({"type": "integer", "minimum": i64::MIN, "maximum": i64::MAX}), "an integer"),
            (json!({"type": "integer", "minimum": 0, "maximum": u64::MAX}), "an integer of at least 0"),
            (json!({"type": "number", "minimum": f32::MIN, "maximum": f32::MAX}), "a number"),
            (
                json!({"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1}),
                "a number below 1 above 0",
            ),
            (json!({"type": "integer", "multipleOf": 5}), "an integer that is a multiple of 5"),
            (json!({"type": "string", "minLength": 1}), "a string of at least 1 character"),
            (json!({"type": "string", "minLength": 1, "maxLength": 1}), "a string of exactly 1 character"),
            (json!({"type": "string", "maxLength": 2}), "a string of at most 2 characters"),
            (json!({"type": "string", "pattern": "^a"}), "a string that matches the pattern ^a"),
            (json!({"type": "string", "format": "date"}), "a string in the format `date`"),
            (json!({"type": "array", "minItems": 4, "maxItems": 4}), "an array of exactly 4 items"),
            (json!({"type": "array", "minItems": 0, "maxItems": 1}), "an array of 0 to 1 item"),
            (json!({"type": "array", "uniqueItems": true}), "an array without repeated items"),
            (json!({"type": "array", "contains": {"const": 1}}), "an array with at least one item that is 1"),
            (json!({"type": "object", "minProperties": 1}), "an object of at least 1 entry"),
            (json!({"type": "object", "maxProperties": 3}), "an object of at most 3 entries"),
            (
                json!({"type": "object", "propertyNames": {"type": "string", "pattern": "^a"}}),
                "an object whose names are each a string that matches the pattern ^a",
            ),
            (json!({"type": "string", "not": {"const": "x"}}), "a string that is not \"x\""),
            (json!({"const": null}), "null"),
            (json!({"enum": ["a", 1]}), "one of \"a\", 1"),
            (json!({"oneOf": [{"const": "a"}, {"const": "b"}]}), "one of \"a\", \"b\""),
            (json!({"anyOf": [{"type": "object"}, {"type": "object"}]}), "an object"),
            (json!({"anyOf": [{"type": "string"}, {"type": "null"}]}), "a string or null"),
            (json!({"$ref": "#/$defs/A", "$defs": {"A": {"type": "boolean"}}}), "a boolean"),
        ] {
            assert_eq!(describe(&schema, &schema), expected, "{schema}");
        }
    }

    #[test]
    fn a_bound_that_was_broken_is_named() {
        let schema = json!({"type": "integer", "minimum": i64::MIN, "maximum": i64::MAX});
        let words = Words { root: &schema, violated: "maximum" }.describe(&schema, 0);
        assert_eq!(words, format!("an integer of at most {}", i64::MAX));
    }

    #[test]
    fn lists_are_cut() {
        let many: Vec<Value> = (0..1000).map(Value::from).collect();
        assert!(join(&many).ends_with("22, 23, …"));
        assert!(plain(&"x".repeat(1000).into()).len() < 70);
    }
}
