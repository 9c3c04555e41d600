//! The intersection of two schemas, as one schema.

use super::document::{names, stand_at};
use super::kind::{Kind, common, stated};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashSet};

/// Groups of keywords that have a meaning together, and none with those of another schema.
const UNITS: [&[&str]; 2] = [&["if", "then", "else"], &["contains", "minContains", "maxContains"]];

/// The most separate requirements on one value that are written out.
const MAX_JOINED: usize = 64;

/// Restricts `first` to values that also match `second`. If that cannot be expressed in one schema, the result accepts more, and
/// `lost` is called with the keyword of the second schema that was left out.
///
/// Neither schema contains references or composition, except within its properties and items.
pub(super) fn meet(first: &mut Map<String, Value>, second: &Map<String, Value>, lost: &mut dyn FnMut(&str)) {
    if !first.keys().any(|key| super::document::is_place(key)) {
        stand_at(first, second);
    }
    let taken =
        UNITS.iter().filter(|unit| unit.iter().any(|key| first.contains_key(*key))).flat_map(|unit| *unit);
    let taken: Vec<&str> = taken.copied().collect();
    meet_properties(first, second, lost);
    meet_items(first, second, lost);
    for (key, value) in second {
        if taken.contains(&key.as_str()) {
            if first.get(key) != Some(value) {
                lost(key);
            }
            continue;
        }
        let Some(own) = first.get_mut(key) else {
            if !is_handled(key) {
                first.insert(key.clone(), value.clone());
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
                    first.insert(key.clone(), kinds.into());
                }
                (None, Some(_)) => {
                    first.insert(key.clone(), value.clone());
                }
                _ => {}
            },
            "enum" => keep_common(own, value),
            "minimum" | "exclusiveMinimum" | "minLength" | "minItems" | "minProperties" => {
                if is_more(value, own) {
                    *own = value.clone();
                }
            }
            "maximum" | "exclusiveMaximum" | "maxLength" | "maxItems" | "maxProperties" => {
                if is_more(own, value) {
                    *own = value.clone();
                }
            }
            "required" => add_names(own, value),
            "description" | "default" | "examples" | "title" => {}
            _ => lost(key),
        }
    }
}

/// Returns how many values are copied or examined by [`meet`], beyond those of the second schema; counted up to a limit.
pub(super) fn cost(first: &Map<String, Value>, second: &Map<String, Value>, limit: usize) -> usize {
    let length =
        |schema: &Map<String, Value>| schema.get("properties").and_then(Value::as_object).map_or(0, Map::len);
    // Each property that only one of them names has to match the other's schema for further properties.
    let fitted = |named: usize, other: &Map<String, Value>| match other.get("additionalProperties") {
        Some(rest) if named > 0 => named.saturating_mul(super::count(rest, limit)),
        _ => 0,
    };
    let required = match (first.get("required"), second.contains_key("required")) {
        (Some(Value::Array(names)), true) => names.len(),
        _ => 0,
    };
    fitted(length(first), second).saturating_add(fitted(length(second), first)).saturating_add(required)
}

/// Returns true if the functions below combine this keyword.
fn is_handled(key: &str) -> bool {
    matches!(
        key,
        "properties"
            | "patternProperties"
            | "additionalProperties"
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

/// Keeps the values that are also in the other list. Numbers with the same value are equal, regardless of their spelling.
fn keep_common(own: &mut Value, other: &Value) {
    let (Value::Array(own), Value::Array(other)) = (own, other) else { return };
    let other: HashSet<String> = other.iter().map(alike).collect();
    own.retain(|value| other.contains(&alike(value)));
}

/// Returns the same text for values that are equal in JSON Schema. Numbers that are equal as floats also have the same text.
fn alike(value: &Value) -> String {
    match value {
        Value::Number(number) => {
            number.as_f64().map_or_else(|| number.to_string(), |float| (float + 0.0).to_string())
        }
        Value::Array(items) => {
            items.iter().fold("[".to_owned(), |text, item| text + &alike(item) + ",") + "]"
        }
        Value::Object(members) => {
            let members: BTreeMap<&String, String> =
                members.iter().map(|(name, member)| (name, alike(member))).collect();
            format!("{members:?}")
        }
        other => other.to_string(),
    }
}

fn add_names(own: &mut Value, other: &Value) {
    let Value::Array(own) = own else { return };
    let known: HashSet<String> = own.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    own.extend(names(Some(other)).into_iter().filter(|name| !known.contains(*name)).map(Value::from));
}

/// Restricts `first` to values that also match `second`: all requirements are in one flat list.
pub(super) fn join(first: &mut Value, second: &Value, lost: &mut dyn FnMut(&str)) {
    match (&*first, second) {
        (_, Value::Bool(true)) | (Value::Bool(false), _) => {}
        (Value::Bool(true), _) | (_, Value::Bool(false)) => *first = second.clone(),
        _ if first == second => {}
        _ => {
            if !is_joined(first) {
                let mut both = json!({ "allOf": [] });
                if let (Some(both), Some(first)) = (both.as_object_mut(), first.as_object()) {
                    stand_at(both, first);
                }
                let alone = std::mem::replace(first, both);
                if let Some(Value::Array(parts)) = first.get_mut("allOf") {
                    parts.push(alone);
                }
            }
            let Some(Value::Array(parts)) = first.get_mut("allOf") else { return };
            let further = match second.get("allOf") {
                Some(Value::Array(further)) if is_joined(second) => further.as_slice(),
                _ => std::slice::from_ref(second),
            };
            for part in further {
                if parts.len() < MAX_JOINED {
                    parts.push(part.clone());
                } else {
                    lost("allOf");
                    break;
                }
            }
        }
    }
}

/// Returns true if a schema consists only of a list of requirements.
fn is_joined(schema: &Value) -> bool {
    schema.as_object().is_some_and(|members| {
        members.get("allOf").is_some_and(Value::is_array)
            && members.keys().all(|key| key == "allOf" || super::document::is_place(key))
    })
}

/// Returns the schemas by name under a keyword.
fn by_name<'a>(schema: &'a Map<String, Value>, key: &str) -> Option<&'a Map<String, Value>> {
    schema.get(key).and_then(Value::as_object).filter(|schemas| !schemas.is_empty())
}

fn meet_properties(first: &mut Map<String, Value>, second: &Map<String, Value>, lost: &mut dyn FnMut(&str)) {
    let first_rest = rest(first).filter(|_| second.contains_key("properties")).cloned();
    if let (Some(rest), Some(Value::Object(own))) = (rest(second), first.get_mut("properties")) {
        let other = by_name(second, "properties");
        for (name, property) in own {
            if other.is_none_or(|other| !other.contains_key(name)) {
                join(property, rest, lost);
            }
        }
    }
    if let Some(other) = by_name(second, "properties") {
        let own = first.entry("properties").or_insert_with(|| json!({}));
        if !own.is_object() {
            *own = json!({});
        }
        for (name, property) in other {
            let Value::Object(own) = &mut *own else { break };
            if let Some(own) = own.get_mut(name) {
                join(own, property, lost);
            } else {
                let mut property = property.clone();
                if let Some(rest) = &first_rest {
                    join(&mut property, rest, lost);
                }
                own.insert(name.clone(), property);
            }
        }
    }
    if let Some(other) = by_name(second, "patternProperties") {
        let own = first.entry("patternProperties").or_insert_with(|| json!({}));
        for (pattern, property) in other {
            let Value::Object(own) = &mut *own else { break };
            match own.get_mut(pattern) {
                Some(own) => join(own, property, lost),
                None => drop(own.insert(pattern.clone(), property.clone())),
            }
        }
    }
    if let Some(other) = second.get("additionalProperties") {
        match first.get_mut("additionalProperties") {
            Some(own) => join(own, other, lost),
            None => drop(first.insert("additionalProperties".into(), other.clone())),
        }
    }
}

/// Returns the schema of a property that a schema does not name: that of further properties, unless a pattern may apply to it.
fn rest(schema: &Map<String, Value>) -> Option<&Value> {
    schema.get("additionalProperties").filter(|_| !schema.contains_key("patternProperties"))
}

fn meet_items(first: &mut Map<String, Value>, second: &Map<String, Value>, lost: &mut dyn FnMut(&str)) {
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
                first.insert(key.into(), value.clone());
            }
        }
    } else if !has_places(first) && !has_places(second) {
        if let (Some(own), Some(other)) = (first.get_mut("items"), second.get("items")) {
            join(own, other, lost);
        }
    } else if first.get("prefixItems") != second.get("prefixItems")
        || first.get("items") != second.get("items")
    {
        lost(if has_places(second) { "prefixItems" } else { "items" });
    }
}
