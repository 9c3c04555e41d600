//! Changes to arguments according to the schema: aliases are renamed, `null` for optional properties is removed,
//! and `5.0` becomes an integer.

use super::repair::{Repair, RepairKind};
use super::schema_facts::{allows_null, rest_of};
use super::variant::meant_option;
use crate::excerpt::cut;
use crate::invalid_arguments::Problem;
use crate::pointer::Pointer;
use crate::schema::{ALIASES, DEEPEST, SchemaFn, compose, duration, resolve};
use serde_json::{Map, Number, Value};

/// The note about a `null` that was removed.
const NULL_NOTE: &str = "null was read as an absent value";

/// Renames properties that were given under an alias. If both names are given, a `null` is treated as absent.
///
/// `schema` is the annotated one, in which a property lists its aliases.
pub(super) fn rename_aliases(value: &mut Value, schema: &Value, problems: &mut Vec<Problem>) {
    visit(value, schema, schema, Pointer::ROOT, &mut |value, object, at| {
        let Value::Object(members) = value else { return };
        let Some(properties) = object.get("properties").and_then(Value::as_object) else { return };
        for (name, property) in properties {
            let Some(aliases) = property.get(ALIASES).and_then(Value::as_array) else { continue };
            for alias in aliases.iter().filter_map(Value::as_str) {
                // The name means the property that has it, if there is one.
                if properties.contains_key(alias) {
                    continue;
                }
                let Some(given) = members.shift_remove(alias) else { continue };
                match members.get(name) {
                    Some(first) if !first.is_null() && !given.is_null() => problems.push(Problem::new(
                        at.member(alias).to_string(),
                        format!("one value for `{name}`"),
                        format!("a second one: `{}` is an alias of it", cut(alias, 80)),
                    )),
                    Some(first) if !first.is_null() => {}
                    _ => {
                        members.insert(name.clone(), given);
                    }
                }
            }
        }
    });
}

/// Removes optional properties that are `null` where the schema expects another value.
pub(super) fn drop_optional_nulls(value: &mut Value, schema: &Value, repairs: &mut Vec<Repair>) {
    visit(value, schema, schema, Pointer::ROOT, &mut |value, object, at| {
        drop_nulls(value, object, schema, &mut |name| {
            let pointer = at.member(name).to_string();
            repairs.push(Repair::new(pointer, RepairKind::NullToAbsent, NULL_NOTE));
        });
    });
}

/// Same for one object and its schema `object`, within `root`.
pub(super) fn drop_nulls(
    value: &mut Value,
    object: &Map<String, Value>,
    root: &Value,
    dropped: &mut impl FnMut(&str),
) {
    let Value::Object(members) = value else { return };
    let Some(properties) = object.get("properties").and_then(Value::as_object) else { return };
    let required = object.get("required").and_then(Value::as_array);
    members.retain(|name, member| {
        let is_required = required.is_some_and(|required| required.iter().any(|other| other == name));
        let stays = !member.is_null()
            || is_required
            || properties.get(name).is_none_or(|property| allows_null(property, root, 0));
        if !stays {
            dropped(name);
        }
        stays
    });
}

/// Converts floats without a fraction to integers where the schema expects integers. `5.0` is an integer in JSON
/// Schema, but not in serde.
pub(super) fn whole_floats_to_integers(value: &mut Value, schema: &Value) {
    // Only saves the walk, which changes nothing if there is no such float. No test can tell.
    if !holds_whole_float(value) {
        return;
    }
    visit(value, schema, schema, Pointer::ROOT, &mut |value, members, _| {
        if let Value::Number(number) = value
            && wants_integer(members)
            && let Some(integer) = integer(number)
        {
            *number = integer;
        }
    });
}

fn holds_whole_float(value: &Value) -> bool {
    match value {
        Value::Number(number) => integer(number).is_some(),
        Value::Array(items) => items.iter().any(holds_whole_float),
        Value::Object(members) => members.values().any(holds_whole_float),
        _ => false,
    }
}

fn wants_integer(schema: &Map<String, Value>) -> bool {
    match schema.get("type") {
        Some(Value::Array(kinds)) => {
            kinds.iter().any(|kind| kind == "integer") && !kinds.iter().any(|kind| kind == "number")
        }
        Some(kind) => kind == "integer",
        None => false,
    }
}

/// Returns the integer that a float without a fraction stands for.
fn integer(number: &Number) -> Option<Number> {
    if !number.is_f64() {
        return None;
    }
    let float = number.as_f64().filter(|float| float.fract() == 0.0)?;
    // The decimal form of a float without a fraction has exact digits and, up to 2^64, parses as an integer.
    let digits = format!("{float:.0}");
    let digits = if digits == "-0" { "0" } else { &digits };
    digits.parse::<u64>().map(Number::from).or_else(|_| digits.parse::<i64>().map(Number::from)).ok()
}

/// Replaces each text that the schema declares as a duration in `value` by the parts that serde reads.
///
/// The schema is created only if some text in the value may be a duration.
pub(crate) fn with_duration_parts(schema: SchemaFn, mut value: Value) -> Value {
    if duration::holds_duration(&value) {
        let schema = compose(|generator| schema(generator).to_value());
        durations_to_parts(&mut value, &schema);
    }
    value
}

/// Converts texts to the form that serde reads for a duration, where the schema marks them as durations.
fn durations_to_parts(value: &mut Value, schema: &Value) {
    visit(value, schema, schema, Pointer::ROOT, &mut |value, members, _| {
        if let Value::String(text) = value
            && members.get("pattern").is_some_and(|pattern| pattern == duration::PATTERN)
            && let Some(parts) = duration::parts(text)
        {
            *value = parts;
        }
    });
}

type Change<'a> = dyn FnMut(&mut Value, &Map<String, Value>, Pointer<'_>) + 'a;

/// Calls `change` on every value with the schemas that describe it, outermost first.
pub(super) fn visit(
    value: &mut Value,
    schema: &Value,
    root: &Value,
    at: Pointer<'_>,
    change: &mut Change<'_>,
) {
    let Some(schema) = resolve(schema, root).as_object() else { return };
    // Schemas whose variants refer back to themselves are refused when they are compiled.
    if at.depth() > DEEPEST {
        return;
    }
    change(value, schema, at);
    match value {
        Value::Object(members) => {
            let properties = schema.get("properties").and_then(Value::as_object);
            let rest = rest_of(schema);
            for (name, member) in members.iter_mut() {
                if let Some(each) = properties.and_then(|properties| properties.get(name)).or(rest) {
                    visit(member, each, root, at.member(name), change);
                }
            }
        }
        Value::Array(items) => {
            let places = schema.get("prefixItems").and_then(Value::as_array);
            for (index, item) in items.iter_mut().enumerate() {
                if let Some(each) =
                    places.and_then(|places| places.get(index)).or_else(|| schema.get("items"))
                {
                    visit(item, each, root, at.item(index), change);
                }
            }
        }
        _ => {}
    }
    for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
        visit(value, part, root, at.same(), change);
    }
    for key in ["oneOf", "anyOf"] {
        if let Some(options) = schema.get(key).and_then(Value::as_array)
            && let Some(option) = meant_option(value, options, root)
        {
            visit(value, option, root, at.same(), change);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::nested;
    use super::*;
    use serde_json::json;

    #[test]
    fn whole_floats_become_integers_where_integers_are_wanted() {
        let schema = json!({"properties": {
            "n": {"type": "integer"},
            "f": {"type": "number"},
            "any": true,
            "list": {"type": "array", "items": {"anyOf": [{"type": "integer"}, {"type": "null"}]}},
            "map": {"type": "object", "patternProperties": {"^\\d+$": {"type": "integer"}}},
        }});
        for (given, expected) in [
            (json!({"n": 5.0, "f": 5.0, "any": 5.0}), json!({"n": 5, "f": 5.0, "any": 5.0})),
            (json!({"n": -0.0}), json!({"n": 0})),
            (json!({"n": 1e19}), json!({"n": 10_000_000_000_000_000_000_u64})),
            (json!({"n": 1e20}), json!({"n": 1e20})),
            (json!({"n": 5.5}), json!({"n": 5.5})),
            (json!({"list": [1.0, null]}), json!({"list": [1, null]})),
            (json!({"map": {"1": 2.0}}), json!({"map": {"1": 2}})),
        ] {
            let mut value = given.clone();
            whole_floats_to_integers(&mut value, &schema);
            assert_eq!(value, expected, "{given}");
        }
    }

    #[test]
    fn integers_are_wanted_where_no_other_number_is() {
        for (kind, expected) in [
            (json!("integer"), json!(5)),
            (json!("number"), json!(5.0)),
            (json!(["integer", "null"]), json!(5)),
            (json!(["integer", "number"]), json!(5.0)),
            (json!(["number", "null"]), json!(5.0)),
            (json!(["string", "null"]), json!(5.0)),
        ] {
            let mut value = json!(5.0);
            whole_floats_to_integers(&mut value, &json!({ "type": kind }));
            assert_eq!(value, expected, "{kind}");
        }
    }

    #[test]
    fn schemas_are_followed_as_deep_as_text_can_nest() {
        let leaf = json!({"type": "integer"});
        for (depth, expected) in [(1, json!(5)), (DEEPEST, json!(5)), (DEEPEST + 1, json!(5.0))] {
            for key in ["allOf", "oneOf", "anyOf"] {
                let mut value = json!(5.0);
                whole_floats_to_integers(&mut value, &nested(key, depth, leaf.clone()));
                assert_eq!(value, expected, "{key} {depth}");
            }
        }
        for (depth, allows) in [(1, false), (DEEPEST - 1, false), (DEEPEST, true)] {
            for key in ["oneOf", "anyOf"] {
                let schema = nested(key, depth, leaf.clone());
                assert_eq!(allows_null(&schema, &schema, 0), allows, "{key} {depth}");
            }
        }
    }

    #[test]
    fn nulls_are_dropped_where_they_are_optional_and_do_not_fit() {
        let schema = json!({"properties": {"a": {"type": "string"}, "b": {"type": "string"},
            "c": {"type": ["string", "null"]}}, "required": ["b"]});
        let mut value = json!({"a": null, "b": null, "c": null, "d": null});
        let mut repairs = Vec::new();
        drop_optional_nulls(&mut value, &schema, &mut repairs);
        assert_eq!(value, json!({"b": null, "c": null, "d": null}));
        assert_eq!(repairs, [Repair::new("/a", RepairKind::NullToAbsent, NULL_NOTE)]);
    }
}
