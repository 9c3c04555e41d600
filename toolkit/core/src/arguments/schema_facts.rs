//! Facts that the repair and the display of values read from a schema.

use crate::schema::{DEEPEST, resolve};
use serde_json::{Map, Value};

/// Returns true if the schema accepts `null`, or says nothing about it.
pub(super) fn allows_null(schema: &Value, root: &Value, depth: usize) -> bool {
    let Some(schema) = resolve(schema, root).as_object().filter(|_| depth < DEEPEST) else { return true };
    if let Some(types) = schema.get("type") {
        return types == "null"
            || types.as_array().is_some_and(|types| types.iter().any(|kind| kind == "null"));
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(options) = schema.get(key).and_then(Value::as_array) {
            return options.iter().any(|option| allows_null(option, root, depth + 1));
        }
    }
    if let Some(options) = schema.get("enum").and_then(Value::as_array) {
        return options.contains(&Value::Null);
    }
    schema.get("const").is_none_or(Value::is_null)
}

/// Returns the schema of properties without a name of their own: the entries of a map.
pub(super) fn rest_of(schema: &Map<String, Value>) -> Option<&Value> {
    let patterns = schema.get("patternProperties").and_then(Value::as_object);
    // schemars writes a map with numeric keys as one pattern.
    let only = patterns.filter(|patterns| patterns.len() == 1).and_then(|patterns| patterns.values().next());
    schema.get("additionalProperties").filter(|rest| rest.is_object()).or(only)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn null_is_allowed_by_type_by_value_or_where_nothing_is_said() {
        for (schema, allows) in [
            (json!({"type": "null"}), true),
            (json!({"type": "string"}), false),
            (json!({"type": ["string", "null"]}), true),
            (json!({"type": ["string", "integer"]}), false),
            (json!({"anyOf": [{"type": "string"}, {"type": "null"}]}), true),
            (json!({"oneOf": [{"type": "string"}, {"type": "integer"}]}), false),
            (json!({"enum": ["a", null]}), true),
            (json!({"enum": ["a", "b"]}), false),
            (json!({"const": null}), true),
            (json!({"const": 1}), false),
            (json!({"minimum": 1}), true),
            (json!({}), true),
            (json!(true), true),
        ] {
            assert_eq!(allows_null(&schema, &schema, 0), allows, "{schema}");
        }
    }

    #[test]
    fn the_rest_of_a_map_has_one_schema() {
        let each = json!({"type": "integer"});
        let other = json!({"type": "string"});
        for (schema, rest) in [
            (json!({"additionalProperties": each}), Some(&each)),
            (json!({"patternProperties": {"^a": each}}), Some(&each)),
            (json!({"patternProperties": {"^a": each}, "additionalProperties": false}), Some(&each)),
            (json!({"patternProperties": {"^a": other}, "additionalProperties": each}), Some(&each)),
            // The schema that applies depends on the name.
            (json!({"patternProperties": {"^a": each, "^b": other}}), None),
            (json!({"patternProperties": {}}), None),
            (json!({"additionalProperties": true}), None),
            (json!({}), None),
        ] {
            assert_eq!(rest_of(schema.as_object().unwrap()), rest, "{schema}");
        }
    }
}
