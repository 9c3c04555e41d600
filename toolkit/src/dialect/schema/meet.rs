//! What fits two schemas, as one schema.

use super::document::{names, stand_at};
use super::kind::{Kind, common, stated};
use serde_json::{Map, Value, json};

/// Keywords that mean something together, and nothing with those of another schema.
const UNITS: [&[&str]; 2] = [&["if", "then", "else"], &["contains", "minContains", "maxContains"]];

/// The schema of what fits both. Where that cannot be said in one, it takes more, and `lost` is told which keyword of the second
/// was left out.
///
/// Neither has a reference or is put together of others but below its properties and items.
pub(super) fn meet(
    first: &Map<String, Value>,
    second: &Map<String, Value>,
    lost: &mut dyn FnMut(&str),
) -> Map<String, Value> {
    let mut both = first.clone();
    if !both.keys().any(|key| super::document::is_place(key)) {
        stand_at(&mut both, second);
    }
    meet_properties(&mut both, first, second);
    meet_items(&mut both, first, second, lost);
    let taken =
        UNITS.iter().filter(|unit| unit.iter().any(|key| first.contains_key(*key))).flat_map(|unit| *unit);
    let taken: Vec<&str> = taken.copied().collect();
    for (key, value) in second {
        if taken.contains(&key.as_str()) {
            if first.get(key) != Some(value) {
                lost(key);
            }
            continue;
        }
        let Some(own) = first.get(key) else {
            if !is_handled(key) {
                both.insert(key.clone(), value.clone());
            }
            continue;
        };
        if own == value || is_handled(key) || super::document::is_place(key) {
            continue;
        }
        match key.as_str() {
            "type" => match (stated(first), stated(second)) {
                (Some(own), Some(other)) => {
                    let kinds: Vec<&str> = common(&own, &other).into_iter().map(Kind::name).collect();
                    both.insert(key.clone(), kinds.into());
                }
                (None, Some(_)) => {
                    both.insert(key.clone(), value.clone());
                }
                _ => {}
            },
            "enum" => {
                both.insert(key.clone(), common_values(own, value));
            }
            "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" => {
                if is_more(value, own) {
                    both.insert(key.clone(), value.clone());
                }
            }
            "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => {
                if is_more(own, value) {
                    both.insert(key.clone(), value.clone());
                }
            }
            "required" => {
                let mut all = names(Some(own));
                all.extend(names(Some(value)).into_iter().filter(|name| !names(Some(own)).contains(name)));
                both.insert(key.clone(), all.into());
            }
            "description" | "default" | "examples" | "title" => {}
            _ => lost(key),
        }
    }
    both
}

/// What the functions below put together.
fn is_handled(key: &str) -> bool {
    matches!(
        key,
        "properties"
            | "patternProperties"
            | "additionalProperties"
            | "unevaluatedProperties"
            | "items"
            | "prefixItems"
            | "unevaluatedItems"
    )
}

fn is_more(value: &Value, than: &Value) -> bool {
    match (value.as_f64(), than.as_f64()) {
        (Some(value), Some(than)) => value > than,
        _ => false,
    }
}

fn common_values(first: &Value, second: &Value) -> Value {
    let (Some(own), Some(other)) = (first.as_array(), second.as_array()) else { return first.clone() };
    // As text `1` is not `1.0`, as values they are the same.
    let is_same = |a: &Value, b: &Value| a == b || a.as_f64().is_some_and(|a| b.as_f64() == Some(a));
    own.iter().filter(|value| other.iter().any(|other| is_same(value, other))).cloned().collect()
}

fn both_of(first: &Value, second: &Value) -> Value {
    match (first, second) {
        (Value::Bool(true), other) | (other, Value::Bool(true)) => other.clone(),
        (Value::Bool(false), _) | (_, Value::Bool(false)) => Value::Bool(false),
        _ if first == second => first.clone(),
        _ => {
            let mut both = json!({ "allOf": [first, second] });
            if let (Some(both), Some(first)) = (both.as_object_mut(), first.as_object()) {
                stand_at(both, first);
            }
            both
        }
    }
}

fn meet_properties(both: &mut Map<String, Value>, first: &Map<String, Value>, second: &Map<String, Value>) {
    let of = |schema: &Map<String, Value>, key: &str| {
        schema.get(key).and_then(Value::as_object).cloned().unwrap_or_default()
    };
    let (own, other) = (of(first, "properties"), of(second, "properties"));
    let mut properties = own.clone();
    for (name, property) in &other {
        let property = match own.get(name) {
            Some(own) => both_of(own, property),
            None => with_rest(property, first),
        };
        properties.insert(name.clone(), property);
    }
    for (name, property) in &own {
        if !other.contains_key(name) {
            properties.insert(name.clone(), with_rest(property, second));
        }
    }
    if !properties.is_empty() {
        both.insert("properties".into(), properties.into());
    }
    let mut patterns = of(first, "patternProperties");
    for (pattern, property) in of(second, "patternProperties") {
        let property = match patterns.get(&pattern) {
            Some(own) => both_of(own, &property),
            None => property,
        };
        patterns.insert(pattern, property);
    }
    if !patterns.is_empty() {
        both.insert("patternProperties".into(), patterns.into());
    }
    for key in ["additionalProperties", "unevaluatedProperties"] {
        if let Some(other) = second.get(key) {
            let rest = first.get(key).map_or_else(|| other.clone(), |own| both_of(own, other));
            both.insert(key.into(), rest);
        }
    }
}

/// A property that the other schema does not name is one of its further ones.
fn with_rest(property: &Value, other: &Map<String, Value>) -> Value {
    match other.get("additionalProperties") {
        // A pattern may speak of it instead.
        Some(rest) if !other.contains_key("patternProperties") => both_of(property, rest),
        _ => property.clone(),
    }
}

fn meet_items(
    both: &mut Map<String, Value>,
    first: &Map<String, Value>,
    second: &Map<String, Value>,
    lost: &mut dyn FnMut(&str),
) {
    let has_places = |schema: &Map<String, Value>| schema.contains_key("prefixItems");
    let has_items = |schema: &Map<String, Value>| schema.contains_key("items") || has_places(schema);
    if second.contains_key("unevaluatedItems")
        && first.get("unevaluatedItems") != second.get("unevaluatedItems")
    {
        lost("unevaluatedItems");
    }
    if !has_items(second) {
        return;
    }
    if !has_items(first) {
        for key in ["items", "prefixItems"] {
            if let Some(value) = second.get(key) {
                both.insert(key.into(), value.clone());
            }
        }
    } else if !has_places(first) && !has_places(second) {
        both.insert("items".into(), both_of(&first["items"], &second["items"]));
    } else if first.get("prefixItems") != second.get("prefixItems")
        || first.get("items") != second.get("items")
    {
        lost(if has_places(second) { "prefixItems" } else { "items" });
    }
}
