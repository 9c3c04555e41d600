//! The defaults and examples in a schema, in the form in which a call gives such values.

use super::shape::{drop_nulls, visit};
use crate::pointer::Pointer;
use crate::schema::{circle_within, duration, holds_values, is_by_name, under_of};
use serde_json::Value;

/// Rewrites the defaults and examples of a schema as a call would give them: without the `null` that serde writes for an absent property, and
/// with durations as texts. Both come from `Serialize`, which writes for `Deserialize`.
pub(crate) fn rewrite_shown_values(schema: &mut Value) {
    let mut places = Vec::new();
    find(schema, "", &mut String::new(), &mut places);
    if places.is_empty() || circle_within(schema).is_some() {
        return;
    }
    for Place { part, value: pointer } in places {
        let (Some(described), Some(before)) = (schema.pointer(&part), schema.pointer(&pointer)) else {
            continue;
        };
        let mut value = before.clone();
        visit(&mut value, described, schema, Pointer::ROOT, &mut |value, members, _| {
            if members.get("pattern").is_some_and(|pattern| pattern == duration::PATTERN) {
                duration::show(value);
            }
            drop_nulls(value, members, schema, &mut |_| {});
        });
        if let Some(place) = schema.pointer_mut(&pointer) {
            *place = value;
        }
    }
}

/// The place of a value in a schema, and of the part of the schema that describes it.
struct Place {
    part: String,
    value: String,
}

/// Finds the defaults and examples that may have to be rewritten. Most have neither a `null` nor an object.
fn find(schema: &Value, under: &str, at: &mut String, places: &mut Vec<Place>) {
    let length = at.len();
    match schema {
        _ if holds_values(under) => {}
        Value::Object(members) => {
            if !is_by_name(under) {
                let default = members.get("default").map(|value| ("/default".to_owned(), value));
                let examples = members.get("examples").and_then(Value::as_array).into_iter().flatten();
                let examples =
                    examples.enumerate().map(|(number, value)| (format!("/examples/{number}"), value));
                let found =
                    default.into_iter().chain(examples).filter(|(_, value)| holds_null_or_object(value));
                places.extend(
                    found.map(|(pointer, _)| Place { part: at.clone(), value: format!("{at}{pointer}") }),
                );
            }
            for (key, member) in members {
                at.push('/');
                at.push_str(&crate::pointer::escape(key));
                find(member, under_of(under, key), at, places);
                at.truncate(length);
            }
        }
        Value::Array(items) => {
            for (number, item) in items.iter().enumerate() {
                at.push('/');
                at.push_str(&number.to_string());
                find(item, "", at, places);
                at.truncate(length);
            }
        }
        _ => {}
    }
}

fn holds_null_or_object(value: &Value) -> bool {
    match value {
        Value::Null | Value::Object(_) => true,
        Value::Array(items) => items.iter().any(holds_null_or_object),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn shown_values_are_written_as_a_call_gives_them() {
        let options = json!({"type": "object", "properties": {
            "colour": {"type": "string"},
            "name": {"type": ["string", "null"]},
            "wait": {"type": "string", "pattern": duration::PATTERN},
        }, "required": ["name"]});
        let wait = json!({"secs": 90, "nanos": 0});
        for (part, given, expected) in [
            (options.clone(), json!({"colour": null, "name": null}), json!({"name": null})),
            (options.clone(), json!({"name": "a", "wait": wait}), json!({"name": "a", "wait": "90s"})),
            (
                json!({"type": "array", "items": options}),
                json!([{"colour": null, "name": "a"}]),
                json!([{"name": "a"}]),
            ),
            (json!({"$ref": "#/$defs/Options"}), json!({"colour": null, "name": "a"}), json!({"name": "a"})),
            (
                json!({"anyOf": [{"$ref": "#/$defs/Options"}, {"type": "null"}]}),
                json!({"colour": null, "name": "a"}),
                json!({"name": "a"}),
            ),
            (
                json!({"type": "object", "additionalProperties": {"$ref": "#/$defs/Options"}}),
                json!({"x": {"colour": null, "name": "a"}}),
                json!({"x": {"name": "a"}}),
            ),
            (json!({"type": "null"}), json!(null), json!(null)),
            (
                json!({"type": "object", "properties": {"default": {"type": "null"}}}),
                json!({"default": null}),
                json!({"default": null}),
            ),
        ] {
            for key in ["default", "examples"] {
                let is_list = key == "examples";
                let wrapped = |value: &Value| if is_list { json!([5, value]) } else { value.clone() };
                let mut part = part.clone();
                part[key] = wrapped(&given);
                let mut schema = json!({"properties": {"default": part}, "$defs": {"Options": options}});
                rewrite_shown_values(&mut schema);
                assert_eq!(schema["properties"]["default"][key], wrapped(&expected), "{part}");
            }
        }
    }

    #[test]
    fn a_schema_that_refers_to_itself_without_end_stays() {
        let mut schema = json!({
            "properties": {"a": {"$ref": "#/$defs/A", "default": null}},
            "$defs": {"A": {"allOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/A"}]}},
        });
        let before = schema.clone();
        rewrite_shown_values(&mut schema);
        assert_eq!(schema, before);
    }
}
