//! Redacts arguments that the schema of their tool marks as secret.

use serde_json::{Map, Value};
use toolkit_core::redact::REDACTED;
use toolkit_core::schema::secret::{add_variants, holds_mark, is_marked};
use toolkit_core::schema::{ALIASES, Compiled};

/// Replaces the secret arguments and returns their values, as text.
///
/// The arguments are as a model sent them: possibly under another name, in another shape, or invalid. So every value
/// that cannot be matched with the schema of a tool with secrets is treated as a secret.
pub(crate) fn strip(compiled: &Compiled, arguments: &mut Value) -> Vec<String> {
    let mut found = Vec::new();
    if compiled.has_secrets {
        let root = &compiled.annotated;
        let mut schemas = Vec::new();
        add_variants(&mut schemas, root, root, 0);
        visit(arguments, &schemas, root, &mut found);
    }
    found
}

fn visit<'a>(value: &mut Value, schemas: &[&'a Value], root: &'a Value, found: &mut Vec<String>) {
    if schemas.iter().any(|schema| is_marked(schema)) {
        return take(value, found);
    }
    let mut followed = Vec::new();
    if !schemas.iter().any(|schema| holds_mark(schema, root, &mut followed)) {
        return;
    }
    match value {
        Value::Object(members)
            if schemas
                .iter()
                .any(|schema| schema.get("properties").is_some() || rest_of(schema).is_some()) =>
        {
            for (name, member) in members.iter_mut() {
                let mut next = Vec::new();
                for schema in schemas {
                    if let Some(property) = property(schema, name).or_else(|| rest_of(schema)) {
                        add_variants(&mut next, property, root, 0);
                    }
                }
                if next.is_empty() { take(member, found) } else { visit(member, &next, root, found) }
            }
        }
        Value::Array(items)
            if schemas
                .iter()
                .any(|schema| schema.get("items").is_some() || schema.get("prefixItems").is_some()) =>
        {
            for (place, item) in items.iter_mut().enumerate() {
                let mut next = Vec::new();
                for schema in schemas {
                    let own = schema.get("prefixItems").and_then(|places| places.get(place));
                    if let Some(each) = own.or_else(|| schema.get("items")) {
                        add_variants(&mut next, each, root, 0);
                    }
                }
                if next.is_empty() { take(item, found) } else { visit(item, &next, root, found) }
            }
        }
        Value::Null | Value::Bool(_) => {}
        _ => take(value, found),
    }
}

/// Returns the property of this name, by an alias or in another case style.
fn property<'a>(schema: &'a Value, name: &str) -> Option<&'a Value> {
    let properties = schema.get("properties")?.as_object()?;
    if let Some(property) = properties.get(name) {
        return Some(property);
    }
    let same = |other: &str| plain(other).eq(plain(name));
    let is_alias = |property: &Value| {
        let aliases = property.get(ALIASES).and_then(Value::as_array);
        aliases.into_iter().flatten().filter_map(Value::as_str).any(same)
    };
    let found = properties.iter().find(|(other, property)| same(other) || is_alias(property));
    found.map(|(_, property)| property)
}

/// Returns the characters of a name without its case style.
fn plain(name: &str) -> impl Iterator<Item = char> + '_ {
    name.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase)
}

fn take(value: &mut Value, found: &mut Vec<String>) {
    collect(value, found);
    *value = REDACTED.into();
}

fn collect(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            found.push(text.clone());
            // A value sent as text may be parsed by the tool, and its parts repeated.
            if let Ok(parsed @ (Value::Array(_) | Value::Object(_))) = serde_json::from_str(text) {
                collect(&parsed, found);
            }
        }
        Value::Number(number) => found.push(number.to_string()),
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Object(members) => members.values().for_each(|member| collect(member, found)),
        Value::Null | Value::Bool(_) => {}
    }
}

fn rest_of(schema: &Value) -> Option<&Value> {
    let schema: &Map<String, Value> = schema.as_object()?;
    let patterns = schema.get("patternProperties").and_then(Value::as_object);
    let first = patterns.and_then(|patterns| patterns.values().next());
    schema.get("additionalProperties").filter(|rest| rest.is_object()).or(first)
}
