//! Schemas that allow objects alone, and schemas of unit variants.

use super::{DEEPEST, resolve};
use serde_json::Value;

/// Returns true if a schema allows objects and nothing else.
pub(crate) fn is_object(schema: &Value, root: &Value, depth: usize) -> bool {
    if depth > DEEPEST {
        return false;
    }
    let Some(members) = resolve(schema, root).as_object() else { return false };
    if let Some(kind) = members.get("type") {
        return kind == "object";
    }
    for key in ["oneOf", "anyOf"] {
        if let Some(options) = members.get(key).and_then(Value::as_array) {
            // A unit variant beside others is a string; it becomes an object too.
            let mut others = options.iter().filter(|option| unit_names(option).is_none()).peekable();
            return others.peek().is_some() && others.all(|option| is_object(option, root, depth + 1));
        }
    }
    members.contains_key("properties")
        || members
            .get("allOf")
            .and_then(Value::as_array)
            .is_some_and(|parts| parts.iter().any(|part| is_object(part, root, depth + 1)))
}

/// Returns the strings that a schema allows, if it allows nothing else.
pub(crate) fn unit_names(schema: &Value) -> Option<Vec<String>> {
    let values = match (schema.get("const"), schema.get("enum")) {
        (Some(value), _) => std::slice::from_ref(value),
        (None, Some(Value::Array(values))) => values,
        _ => return None,
    };
    values.iter().map(|value| value.as_str().map(str::to_owned)).collect()
}
