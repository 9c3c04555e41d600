//! Selects the variant that a value is meant for, and checks if variants exclude each other.

use super::branch::{OBJECT, each, names, types};
use serde_json::{Map, Value};

/// Returns the values of an enumeration, if the branch is one.
pub(super) fn listed(branch: &Map<String, Value>) -> Option<Vec<Value>> {
    match (branch.get("const"), branch.get("enum")) {
        (Some(value), _) => Some(vec![value.clone()]),
        (None, Some(Value::Array(values))) => Some(values.clone()),
        _ => None,
    }
}

/// Splits a branch by type, if this helps to find the matching variants.
pub(super) fn split(branch: &Map<String, Value>, several: bool) -> Vec<Map<String, Value>> {
    let types = types(branch);
    if !several || listed(branch).is_some() || each(types).count() == 1 {
        return vec![branch.clone()];
    }
    each(types)
        .map(|each| {
            let mut part = branch.clone();
            part.insert("type".into(), names(each));
            part
        })
        .collect()
}

/// Returns true if two variants are not meant to be the same: they differ in type or tag.
pub(super) fn is_another(one: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    if types(one) & types(other) == 0 {
        return true;
    }
    let properties = |schema: &Map<String, Value>| {
        schema.get("properties").and_then(Value::as_object).cloned().unwrap_or_default()
    };
    let (own, others) = (properties(one), properties(other));
    let has_other_tag = own.iter().any(|(name, property)| {
        let (tag, other) =
            (property.as_object().and_then(listed), others.get(name).and_then(Value::as_object));
        let (Some(tag), Some(other)) = (tag, other.and_then(listed)) else { return false };
        !tag.iter().any(|value| other.contains(value))
    });
    // The name of the only property is the tag, as in serde's representation of enums.
    let is_named = |schema: &Map<String, Value>, properties: &Map<String, Value>| {
        properties.len() == 1
            && schema.get("required").and_then(Value::as_array).is_some_and(|names| names.len() == 1)
    };
    has_other_tag || is_named(one, &own) && is_named(other, &others) && own.keys().ne(others.keys())
}

/// Returns true if it was proved that no value matches both.
pub(super) fn apart(one: &Map<String, Value>, other: &Map<String, Value>) -> bool {
    if types(one) & types(other) == 0 {
        return true;
    }
    if let (Some(one), Some(other)) = (listed(one), listed(other)) {
        // As numbers 1 and 1.0 are the same value, but not equal here.
        return !one
            .iter()
            .chain(&other)
            .any(|value| value.is_number() || value.is_array() || value.is_object())
            && !one.iter().any(|value| other.contains(value));
    }
    if types(one) != OBJECT || types(other) != OBJECT {
        return false;
    }
    let property = |schema: &Map<String, Value>, name: &str| {
        let rest = || {
            let has_patterns = schema.contains_key("patternProperties");
            schema.get("additionalProperties").filter(|_| !has_patterns).cloned().unwrap_or(Value::Bool(true))
        };
        schema.get("properties").and_then(|properties| properties.get(name)).cloned().unwrap_or_else(rest)
    };
    let names = |schema: &Map<String, Value>| -> Vec<String> {
        let required = schema.get("required").and_then(Value::as_array);
        required.into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let has_aliases = |schema: &Value| schema.get(toolkit_core::schema::ALIASES).is_some();
    names(one).iter().chain(&names(other)).any(|name| match (property(one, name), property(other, name)) {
        (Value::Bool(false), other) | (other, Value::Bool(false)) => !has_aliases(&other),
        (Value::Object(one), Value::Object(other)) => apart(&one, &other),
        _ => false,
    })
}
