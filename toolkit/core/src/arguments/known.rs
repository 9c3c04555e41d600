//! The properties that a schema knows, including those of its parts and variants.

use super::variant::meant_option;
use crate::pointer::escape;
use crate::schema::{DEEPEST, resolve};
use serde_json::Value;

/// Adds the properties that `value` may have, including those of its variants.
pub(super) fn add_properties<'a>(
    known: &mut Vec<&'a str>,
    schema: &'a Value,
    root: &'a Value,
    value: &Value,
    depth: usize,
) {
    let schema = resolve(schema, root);
    if depth > DEEPEST {
        return;
    }
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        for name in properties.keys() {
            if !known.contains(&name.as_str()) {
                known.push(name);
            }
        }
    }
    for part in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
        add_properties(known, part, root, value, depth + 1);
    }
    for key in ["oneOf", "anyOf"] {
        let Some(options) = schema.get(key).and_then(Value::as_array) else { continue };
        match meant_option(value, options, root) {
            Some(option) => add_properties(known, option, root, value, depth + 1),
            None => options.iter().for_each(|option| add_properties(known, option, root, value, depth + 1)),
        }
    }
}

/// Returns the schema of a property, also from a part of the schema that requires it.
pub(super) fn property_of<'a>(
    schema: &'a Value,
    root: &'a Value,
    name: &str,
    depth: usize,
) -> Option<&'a Value> {
    let schema = resolve(schema, root);
    if depth > DEEPEST {
        return None;
    }
    schema.get("properties").and_then(|properties| properties.get(name)).or_else(|| {
        ["allOf", "oneOf", "anyOf"]
            .iter()
            .filter_map(|key| schema.get(*key)?.as_array())
            .flatten()
            .find_map(|part| property_of(part, root, name, depth + 1))
    })
}

/// Returns the place of a name that was given at too high a level: the one property among `known` that
/// contains it, itself or in its items.
pub(super) fn place_within(schema: &Value, root: &Value, known: &[&str], name: &str) -> Option<String> {
    let mut places = known.iter().filter_map(|outer| {
        let property = resolve(property_of(schema, root, outer, 0)?, root);
        let has_name = |schema: &Value| {
            resolve(schema, root).get("properties").is_some_and(|properties| properties.get(name).is_some())
        };
        let (outer, inner) = (escape(outer), escape(name));
        if has_name(property) {
            Some(format!("/{outer}/{inner}"))
        } else {
            property.get("items").is_some_and(has_name).then(|| format!("/{outer}/0/{inner}"))
        }
    });
    let place = places.next()?;
    places.next().is_none().then_some(place)
}

#[cfg(test)]
mod tests {
    use super::super::tests::nested;
    use super::*;
    use serde_json::json;

    #[test]
    fn properties_are_found_as_deep_as_schemas_are_followed() {
        let leaf = json!({"properties": {"x": {"type": "integer"}}});
        let other = json!({"properties": {"y": {}}});
        // A value that is no object selects neither of two such options.
        let unmeant =
            |depth: usize| (0..depth).fold(leaf.clone(), |inner, _| json!({"oneOf": [inner, other]}));
        for (depth, is_found) in [(0, true), (1, true), (DEEPEST, true), (DEEPEST + 1, false)] {
            for schema in [
                nested("allOf", depth, leaf.clone()),
                nested("oneOf", depth, leaf.clone()),
                nested("anyOf", depth, leaf.clone()),
                unmeant(depth),
            ] {
                let mut known = Vec::new();
                add_properties(&mut known, &schema, &schema, &Value::Null, 0);
                assert_eq!(known.contains(&"x"), is_found, "{depth}");
                assert_eq!(property_of(&schema, &schema, "x", 0).is_some(), is_found, "{depth}");
            }
        }
    }

    #[test]
    fn a_name_is_listed_once() {
        let part = json!({"properties": {"x": {}, "y": {}}});
        let schema = json!({"properties": {"y": {}}, "allOf": [part, part]});
        let mut known = Vec::new();
        add_properties(&mut known, &schema, &schema, &json!({}), 0);
        assert_eq!(known, ["y", "x"]);
    }
}
