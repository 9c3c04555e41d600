//! The root of a tool's schema, which must be an object: other types are rejected, and objects are closed.

use super::input::make;
use crate::parameter::Input;
use crate::schema::{is_object, resolve, unit_names};
use serde_json::{Map, Value, json};

/// Returns the reason why `input` cannot be a tool's arguments, if there is one: they are always a JSON object.
#[doc(hidden)]
pub fn root_fault(input: &Input) -> Option<String> {
    let Input::Whole(_) = input else { return None };
    let schema = make(input);
    (!is_object(&schema, &schema, 0)).then(|| {
        "a tool that takes its arguments whole, as an `#[args]` type, needs a struct with named fields, an enum of \
         such, or a map with strings as keys: arguments are always a JSON object"
            .to_owned()
    })
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arg::ToolArg;
    use crate::parameter::arg;
    use schemars::JsonSchema;
    use serde::Deserialize;
    use std::collections::BTreeMap;

    #[derive(Deserialize, JsonSchema)]
    struct Fields {}

    #[derive(Deserialize, JsonSchema)]
    enum Mixed {
        Unit,
        Fields {},
    }

    #[derive(Deserialize, JsonSchema)]
    enum Units {
        One,
        Two,
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(untagged)]
    enum Untagged {
        Text(#[expect(dead_code, reason = "only its schema is wanted")] String),
        Fields {},
    }

    #[derive(Deserialize, JsonSchema)]
    struct Unit;

    fn is_refused<T: ToolArg>() -> bool {
        let def = Box::leak(Box::new(arg::<T>("", "").def));
        root_fault(&Input::Whole(def)).is_some()
    }

    #[test]
    fn only_objects_are_arguments() {
        assert!(!is_refused::<Fields>());
        assert!(!is_refused::<Mixed>());
        assert!(!is_refused::<BTreeMap<String, u8>>());
        assert!(!is_refused::<Box<Fields>>());
        for (name, is_refused) in [
            ("a number", is_refused::<u8>()),
            ("a list", is_refused::<Vec<Fields>>()),
            ("anything", is_refused::<Value>()),
            ("an option", is_refused::<Option<Fields>>()),
            ("units", is_refused::<Units>()),
            ("text too", is_refused::<Untagged>()),
            ("nothing", is_refused::<Unit>()),
            ("a tuple", is_refused::<(Fields, Fields)>()),
        ] {
            assert!(is_refused, "{name}");
        }
    }
}
