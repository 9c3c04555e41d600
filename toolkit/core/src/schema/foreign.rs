//! Schemas without Rust types: written by hand, or sent by another process.

use super::check::circle_within;
use super::{SchemaFn, Validator, holds_values, is_object, of_output, uncovered};
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// The maximum nesting of a schema; the same as for JSON text.
const DEEPEST: usize = 128;
/// The maximum number of values in a schema. The largest in use have some thousands.
const MAX_VALUES: usize = 100_000;

/// The types of JSON Schema.
const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];
/// Keywords whose members are schemas by name, so that the names are not keywords.
const BY_NAME: [&str; 5] = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];

/// Returns the reason why `schema` cannot be the schema of a tool's arguments, if there is one.
///
/// A validator must come to an end with whatever it says: it reaches for nothing outside the document, and every
/// reference is a pointer that can be followed here too, so that circles are seen.
#[doc(hidden)]
pub fn foreign_fault(schema: &Value) -> Option<String> {
    if let Some(fault) = shape_fault(schema) {
        return Some(fault);
    }
    if !is_object(schema, schema, 0) {
        return Some("arguments are always an object, so its root must be `\"type\": \"object\"`".to_owned());
    }
    None
}

/// Returns the reason why `schema` cannot be the schema of a tool's output, if there is one.
#[doc(hidden)]
pub fn output_fault(schema: &Value) -> Option<String> {
    shape_fault(schema).or_else(|| Validator::new(schema).err())
}

/// The functions whose output schemas are valid, by their addresses. Functions that the compiler merged generate the same schema.
static VALID: Mutex<BTreeSet<usize>> = Mutex::new(BTreeSet::new());

/// Returns the reason why the schema that a type generates cannot be the schema of a tool's output, if there is one. Each type is looked at
/// once in a process.
#[doc(hidden)]
pub fn typed_output_fault(make: SchemaFn) -> Option<String> {
    let valid = || VALID.lock().unwrap_or_else(PoisonError::into_inner);
    if valid().contains(&(make as usize)) {
        return None;
    }
    let schema = of_output(make);
    // A keyword that only the feature `json-schema` covers is not checked without it: the schema is only shown.
    let is_checked = cfg!(feature = "json-schema") || uncovered(&schema).is_none();
    let fault = if is_checked { output_fault(&schema) } else { shape_fault(&schema) };
    if fault.is_none() {
        valid().insert(make as usize);
    }
    fault
}

fn shape_fault(schema: &Value) -> Option<String> {
    let mut count = 0;
    let mut left = vec![(schema, "", 0)];
    while let Some((part, under, depth)) = left.pop() {
        count += 1;
        if depth > DEEPEST {
            return Some(format!("it nests more than {DEEPEST} deep"));
        }
        if count > MAX_VALUES {
            return Some(format!("it holds more than {MAX_VALUES} values"));
        }
        match part {
            Value::Object(members) => {
                let is_by_name = BY_NAME.contains(&under);
                let is_schema = !is_by_name && !holds_values(under);
                if under == "properties"
                    && let Some(fault) =
                        members.iter().find_map(|(name, member)| property_fault(name, member))
                {
                    return Some(fault);
                }
                if is_schema
                    && let Some(fault) =
                        members.iter().find_map(|(key, value)| reference_fault(key, value, schema, depth))
                {
                    return Some(fault);
                }
                left.extend(members.iter().map(|(key, member)| {
                    let under = if is_schema {
                        key.as_str()
                    } else if is_by_name {
                        ""
                    } else {
                        under
                    };
                    (member, under, depth + 1)
                }));
            }
            Value::Array(items) => {
                // A list contains schemas, or values.
                let under = if holds_values(under) { under } else { "" };
                left.extend(items.iter().map(|item| (item, under, depth + 1)));
            }
            _ => {}
        }
    }
    circle_within(schema).map(|name| format!("`{name}` refers to itself without end"))
}

/// Returns the fault of a property whose schema is none.
fn property_fault(name: &str, schema: &Value) -> Option<String> {
    if schema.is_object() || schema.is_boolean() {
        return None;
    }
    let named = schema.as_str().filter(|text| TYPES.contains(text)).unwrap_or("string");
    let schema = crate::excerpt::cut(&schema.to_string(), 80);
    Some(format!(
        "the property `{name}` has `{schema}` as its schema, which is an object: write `{{\"type\": \"{named}\"}}`"
    ))
}

fn reference_fault(key: &str, value: &Value, root: &Value, depth: usize) -> Option<String> {
    match key {
        "$ref" => {
            let reference = value.as_str()?;
            let target = reference.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
            target.is_none().then(|| {
                format!(
                    "the reference `{reference}` leads nowhere: references are pointers within the schema, such as \
                     `#/$defs/name`, and nothing else is loaded"
                )
            })
        }
        "$dynamicRef" | "$recursiveRef" => {
            Some(format!("it uses `{key}`; use `$ref` with a pointer within the schema"))
        }
        // It would change the base of the references below it.
        "$id" | "id" if depth > 0 && value.is_string() => {
            Some(format!("a subschema has `{key}`, which only the root can have"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_what_a_validator_can_end_with_is_taken() {
        let nested = |depth: usize| {
            (0..depth).fold(json!({"type": "string"}), |inner, _| json!({"type": "array", "items": inner}))
        };
        let object = |property: Value| json!({"type": "object", "properties": {"a": property}});
        for (schema, expected) in [
            (json!({"type": "object"}), None),
            (json!({"properties": {"$ref": {"type": "string"}}}), None),
            (object(json!({"default": {"$ref": "file:///etc/passwd"}})), None),
            (json!({"type": "object", "properties": {"next": {"$ref": "#"}}}), None),
            (object(nested(100)), None),
            (json!(true), Some("always an object")),
            (json!({}), Some("always an object")),
            (json!({"type": "string"}), Some("always an object")),
            (json!({"type": ["object", "null"]}), Some("always an object")),
            (object(nested(200)), Some("more than 128 deep")),
            (object(json!({"enum": vec![1; MAX_VALUES]})), Some("more than 100000 values")),
            (object(json!({"$ref": "https://example.com/schema.json"})), Some("leads nowhere")),
            (object(json!({"$ref": "file:///etc/passwd"})), Some("leads nowhere")),
            (object(json!({"$ref": "#anchor"})), Some("leads nowhere")),
            (object(json!({"$dynamicRef": "#a"})), Some("`$dynamicRef`")),
            (object(json!({"$id": "other"})), Some("a subschema has")),
            (object(json!({"$ref": "#/properties/a"})), Some("refers to itself")),
            (object(json!({"items": {"$ref": "#/properties/a/items"}})), Some("refers to itself")),
            (
                json!({
                    "type": "object",
                    "properties": {"a": {"items": {"allOf": [{"$ref": "#/definitions/b"}]}}},
                    "definitions": {"b": {"anyOf": [{"$ref": "#/definitions/c"}]}, "c": {"$ref": "#/definitions/b"}},
                }),
                Some("refers to itself"),
            ),
        ] {
            let fault = foreign_fault(&schema);
            let is_so = match (&fault, expected) {
                (None, None) => true,
                (Some(fault), Some(part)) => fault.contains(part),
                _ => false,
            };
            assert!(is_so, "{schema}: {fault:?}");
        }
    }

    #[test]
    fn an_output_is_of_any_type() {
        assert_eq!(output_fault(&json!({"type": "array"})), None);
        assert!(output_fault(&json!({"type": "nonsense"})).is_some());
    }
}
