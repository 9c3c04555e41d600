//! Combines two schemas into one that accepts only the values that both accept.

use serde_json::{Map, Value, json};

/// Keywords that are independent of other keywords, so that adding one only removes values.
const ALONE: &[&str] = &[
    "enum",
    "const",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
];

/// Adds the restrictions of `also` to `schema`. If possible, they are written with the simple keywords that every
/// provider supports.
pub(super) fn narrow(schema: &mut Value, also: &Value) {
    let (Value::Object(members), Value::Object(demands)) = (&mut *schema, also) else {
        if also != &Value::Bool(true) {
            *schema = json!({ "allOf": [schema.take(), also] });
        }
        return;
    };
    // These keywords depend on keywords beside them: a required property would count as a known one.
    if members.contains_key("unevaluatedProperties") || members.contains_key("unevaluatedItems") {
        *schema = json!({ "allOf": [schema.take(), also] });
        return;
    }
    let mut rest = Map::new();
    for (keyword, demand) in demands {
        match (members.get_mut(keyword), demand) {
            (None, demand) if ALONE.contains(&keyword.as_str()) => {
                members.insert(keyword.clone(), demand.clone());
            }
            (Some(Value::Array(values)), Value::Array(allowed)) if keyword == "enum" => {
                values.retain(|value| allowed.contains(value));
            }
            _ => {
                rest.insert(keyword.clone(), demand.clone());
            }
        }
    }
    if rest.is_empty() {
        return;
    }
    match members.get_mut("allOf") {
        Some(Value::Array(parts)) => parts.push(rest.into()),
        _ => {
            members.insert("allOf".to_owned(), json!([rest]));
        }
    }
}
