//! What fits two schemas, as one schema.

use super::document::{names, stand_at};
use super::kind::{Kind, common, stated};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashSet};

/// Keywords that mean something together, and nothing with those of another schema.
const UNITS: [&[&str]; 2] = [&["if", "then", "else"], &["contains", "minContains", "maxContains"]];

/// More demands than these on one value, each said by another part, are not written out.
const MAX_JOINED: usize = 64;

/// Has what fits `first` fit `second` too. Where that cannot be said in one, it takes more, and `lost` is told which keyword of the
/// second was left out.
///
/// Neither has a reference or is put together of others but below its properties and items.
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

/// How many values are copied or looked at when these meet, beyond those of the second; counted up to a limit.
pub(super) fn cost(first: &Map<String, Value>, second: &Map<String, Value>, limit: usize) -> usize {
    let length =
        |schema: &Map<String, Value>| schema.get("properties").and_then(Value::as_object).map_or(0, Map::len);
    // Each property that only one of them names has to fit what the other says of further ones.
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

/// What the functions below put together.
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

/// Keeps the values that the other list has too. What is the same number is the same, whatever it looks like.
fn keep_common(own: &mut Value, other: &Value) {
    let (Value::Array(own), Value::Array(other)) = (own, other) else { return };
    let other: HashSet<String> = other.iter().map(alike).collect();
    own.retain(|value| other.contains(&alike(value)));
}

/// The same text for values that are the same in JSON Schema. Numbers that no float tells apart have the same, too.
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

/// Has what fits `first` fit `second` too: one list of what has to fit, however many there are.
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

/// Whether a schema is a list of what has to fit, and nothing else.
fn is_joined(schema: &Value) -> bool {
    schema.as_object().is_some_and(|members| {
        members.get("allOf").is_some_and(Value::is_array)
            && members.keys().all(|key| key == "allOf" || super::document::is_place(key))
    })
}

/// The schemas by name under a keyword.
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

/// What has to fit a property that a schema does not name: it is one of its further ones, unless a pattern may speak of it.
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
