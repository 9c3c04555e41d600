//! A schema in words: for error texts and for the one-line signature of a tool.

use super::{Compiled, resolve};
use serde_json::Value;
use std::fmt::Write as _;

impl Compiled {
    /// The schema under a path that a validator reports, references followed.
    pub(crate) fn schema_at(&self, path: &str) -> Option<&Value> {
        let mut schema = &self.schema;
        for step in path.split('/').skip(1) {
            let step = step.replace("~1", "/").replace("~0", "~");
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

    /// The schema that holds the keyword at the end of `path`.
    pub(crate) fn schema_around(&self, path: &str) -> Option<&Value> {
        self.schema_at(path.rsplit_once('/')?.0).map(|schema| resolve(schema, &self.schema))
    }

    /// The schema of the property `name` beside the keyword at the end of `path`.
    pub(crate) fn property_at(&self, path: &str, name: &str) -> Option<&Value> {
        self.schema_around(path)?.get("properties")?.get(name)
    }

    /// What a schema allows, in words for the model: `an integer of at least 1`.
    pub(crate) fn describe_type(&self, schema: &Value) -> String {
        describe(resolve(schema, &self.schema))
    }

    /// The tool's parameters in one line: `read(file_path: string, offset?: integer = 1)`.
    pub(crate) fn signature(&self) -> String {
        let required = self.schema.get("required").and_then(Value::as_array);
        let properties = self.schema.get("properties").and_then(Value::as_object);
        let parameters: Vec<String> = properties
            .into_iter()
            .flatten()
            .map(|(name, schema)| {
                let is_required = required.is_some_and(|required| required.iter().any(|other| other == name));
                let mut text =
                    format!("{name}{}: {}", if is_required { "" } else { "?" }, self.type_word(schema));
                if let Some(default) = schema.get("default") {
                    let _ = write!(text, " = {default}");
                }
                text
            })
            .collect();
        format!("{}({})", self.name, parameters.join(", "))
    }

    fn type_word(&self, schema: &Value) -> String {
        let schema = resolve(schema, &self.schema);
        if let Some(options) = literals(schema) {
            return options.iter().map(Value::to_string).collect::<Vec<_>>().join(" | ");
        }
        match schema.get("type") {
            Some(Value::String(kind)) if kind == "array" => match schema.get("items") {
                Some(items) if items.is_object() => format!("{}[]", self.type_word(items)),
                _ => "array".to_owned(),
            },
            Some(Value::String(kind)) => kind.clone(),
            Some(Value::Array(kinds)) => {
                kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" | ")
            }
            _ => match schema.get("anyOf").or_else(|| schema.get("oneOf")).and_then(Value::as_array) {
                Some(options) => {
                    let mut words: Vec<String> =
                        options.iter().map(|option| self.type_word(option)).collect();
                    words.dedup();
                    words.join(" | ")
                }
                None => "any".to_owned(),
            },
        }
    }
}

fn describe(schema: &Value) -> String {
    if let Some(options) = literals(schema) {
        return match options.as_slice() {
            [only] => only.to_string(),
            _ => format!("one of {}", join(&options)),
        };
    }
    let kind = match schema.get("type") {
        Some(Value::String(kind)) => kind.clone(),
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        _ => return "another value".to_owned(),
    };
    let mut text = match kind.as_str() {
        "integer" | "array" | "object" => format!("an {kind}"),
        _ => format!("a {kind}"),
    };
    let (minimum, maximum) = (bound(schema, "minimum"), bound(schema, "maximum"));
    match (minimum, maximum) {
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
    if let Some(limit) = bound(schema, "exclusiveMaximum") {
        let _ = write!(text, " below {limit}");
    }
    if let Some(limit) = bound(schema, "exclusiveMinimum") {
        let _ = write!(text, " above {limit}");
    }
    for (least, greatest, unit) in [
        ("minLength", "maxLength", "characters"),
        ("minItems", "maxItems", "items"),
        ("minProperties", "maxProperties", "entries"),
    ] {
        match (bound(schema, least), bound(schema, greatest)) {
            (Some(least), Some(greatest)) => {
                let _ = write!(text, " of {least} to {greatest} {unit}");
            }
            (Some(least), None) => {
                let _ = write!(text, " of at least {least} {unit}");
            }
            (None, Some(greatest)) => {
                let _ = write!(text, " of at most {greatest} {unit}");
            }
            (None, None) => {}
        }
    }
    if let Some(pattern) = schema.get("pattern").and_then(Value::as_str) {
        let _ = write!(text, " that matches the pattern {pattern}");
    }
    text
}

/// A bound that says something: the least and greatest 64-bit integers are the type's own, and so noise.
fn bound<'a>(schema: &'a Value, key: &str) -> Option<&'a Value> {
    let bound = schema.get(key)?;
    let is_noise = bound.as_i64() == Some(i64::MIN)
        || bound.as_i64() == Some(i64::MAX)
        || bound.as_u64() == Some(u64::MAX);
    (!is_noise).then_some(bound)
}

/// The values of an enumeration.
pub(crate) fn literals(schema: &Value) -> Option<Vec<Value>> {
    if let Some(value) = schema.get("const") {
        return Some(vec![value.clone()]);
    }
    if let Some(options) = schema.get("enum").and_then(Value::as_array) {
        return Some(options.clone());
    }
    // schemars writes a documented enum as one `const` a variant.
    let options = schema.get("oneOf")?.as_array()?;
    options.iter().map(|option| option.get("const").cloned()).collect()
}

/// Values as JSON, with commas between.
pub(crate) fn join(values: &[Value]) -> String {
    values.iter().map(Value::to_string).collect::<Vec<_>>().join(", ")
}
