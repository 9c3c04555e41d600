//! Closes the root of a tool's schema: it accepts no properties but its own.

use crate::schema::{resolve, unit_names};
use serde_json::{Map, Value, json};

/// Makes the root an object that accepts no properties but its own.
///
/// A type's own rule for additional properties stays: that of a map, or of a flattened map.
pub(super) fn close(schema: &mut Value) {
    follow_reference(schema);
    let Some(root) = schema.as_object_mut() else { return };
    root.shift_remove("title");
    root.shift_remove("description");
    root.entry("type").or_insert_with(|| "object".into());
    for key in ["oneOf", "anyOf"] {
        if let Some(options) = root.get_mut(key).and_then(Value::as_array_mut) {
            units_as_objects(options);
        }
    }
    if root.contains_key("additionalProperties") || root.contains_key("unevaluatedProperties") {
        return;
    }
    let is_composed = ["oneOf", "anyOf", "allOf", "$ref"].iter().any(|key| root.contains_key(*key));
    if !is_composed {
        root.entry("properties").or_insert_with(|| json!({}));
        root.insert("additionalProperties".into(), false.into());
    } else if !["oneOf", "anyOf"].iter().any(|key| root.get(*key).is_some_and(are_closed)) {
        root.insert("unevaluatedProperties".into(), false.into());
    }
}

/// Replaces a reference by its definition, because hosts look for properties at the root.
fn follow_reference(schema: &mut Value) {
    let target = resolve(schema, schema).clone();
    if let (Some(root), Value::Object(target)) = (schema.as_object_mut(), target)
        && root.shift_remove("$ref").is_some()
    {
        for (key, value) in target {
            root.entry(key).or_insert(value);
        }
    }
}

fn are_closed(options: &Value) -> bool {
    options.as_array().is_some_and(|options| {
        options.iter().all(|option| {
            ["additionalProperties", "unevaluatedProperties"]
                .iter()
                .any(|key| option.get(*key) == Some(&Value::Bool(false)))
        })
    })
}

/// Writes the unit variants of an externally tagged enum in the other form that serde reads: `{"Name": null}`.
fn units_as_objects(options: &mut Vec<Value>) {
    *options = std::mem::take(options)
        .into_iter()
        .flat_map(|option| match unit_names(&option) {
            None => vec![option],
            Some(names) => names
                .into_iter()
                .map(|name| {
                    let mut unit = Map::new();
                    unit.insert("type".into(), "object".into());
                    if let Some(description) = option.get("description") {
                        unit.insert("description".into(), description.clone());
                    }
                    unit.insert("required".into(), json!([&name]));
                    unit.insert("properties".into(), json!({ name: {"type": "null"} }));
                    unit.insert("additionalProperties".into(), false.into());
                    unit.into()
                })
                .collect(),
        })
        .collect();
}
