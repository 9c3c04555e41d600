//! Two schemas in one that takes what both take.

use serde_json::{Map, Value, json};

/// Keywords that say something by themselves: beside others, each only takes values away.
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

/// Adds to `schema` what `also` demands. Where both can be said in the plain words that every provider reads, they are.
pub(super) fn narrow(schema: &mut Value, also: &Value) {
    let (Value::Object(members), Value::Object(demands)) = (&mut *schema, also) else {
        if also != &Value::Bool(true) {
            *schema = json!({ "allOf": [schema.take(), also] });
        }
        return;
    };
    // These look at what stands beside them: a property that is demanded would count as one that is known.
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
