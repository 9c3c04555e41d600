//! Validates schemas: a default must match its own schema, and references must not form a cycle.

use super::describe::describe;
use super::{Validator, holds_values, is_by_name, plain, under_of};
use crate::excerpt::cut;
use serde_json::Value;

/// The maximum number of bytes of a value in a message.
const MAX_SHOWN: usize = 200;

/// Returns the problem with the first default or example that does not match the part of the schema that it is in.
///
/// With secrets in it, the message does not contain the value.
pub(super) fn shown_fault(schema: &Value, has_secrets: bool) -> Option<String> {
    let Fault { what, names, part, value } = find_shown_fault(schema, "", &mut Vec::new(), schema)?;
    let place = if names.is_empty() { "the arguments".to_owned() } else { format!("`{}`", names.join(".")) };
    let value = if has_secrets {
        String::new()
    } else {
        format!(", and it is {}", cut(&value.to_string(), MAX_SHOWN))
    };
    let wanted = describe(part, schema);
    Some(format!("the {what} of {place} does not fit its own rules, which ask for {wanted}{value}"))
}

/// A default or an example that does not match the part of the schema that it is in.
struct Fault<'a> {
    what: &'static str,
    /// The names of the properties and definitions that lead to the part.
    names: Vec<String>,
    part: &'a Value,
    value: &'a Value,
}

/// `names` are those of the properties and definitions that lead to `schema`.
fn find_shown_fault<'a>(
    schema: &'a Value,
    under: &str,
    names: &mut Vec<&'a str>,
    root: &Value,
) -> Option<Fault<'a>> {
    match schema {
        _ if holds_values(under) => None,
        Value::Object(members) => {
            if !is_by_name(under)
                && let Some(fault) = value_fault(schema, names, root)
            {
                return Some(fault);
            }
            members.iter().find_map(|(key, member)| {
                let length = names.len();
                names.extend(is_by_name(under).then_some(key.as_str()));
                let fault = find_shown_fault(member, under_of(under, key), names, root);
                names.truncate(length);
                fault
            })
        }
        Value::Array(items) => items.iter().find_map(|item| find_shown_fault(item, "", names, root)),
        _ => None,
    }
}

/// Returns the problem with a name that an object has twice: two fields have it, by a flattened type, a tag or a rule for names.
pub(crate) fn repeated_name(schema: &Value) -> Option<String> {
    match schema {
        Value::Object(members) => {
            let required = members.get("required").and_then(Value::as_array).into_iter().flatten();
            let names: Vec<&str> = required.filter_map(Value::as_str).collect();
            let repeated = names.iter().enumerate().find(|(place, name)| names[..*place].contains(name));
            if let Some((_, name)) = repeated {
                return Some(format!(
                    "two fields of one object have the name `{name}`, perhaps by a flattened type, a tag or a rule for names"
                ));
            }
            members.iter().filter(|(key, _)| !holds_values(key)).find_map(|(_, member)| repeated_name(member))
        }
        Value::Array(items) => items.iter().find_map(repeated_name),
        _ => None,
    }
}

/// Removes the examples of a parameter that do not match any more because it was narrowed.
#[doc(hidden)]
pub fn drop_unfitting_examples(root: &mut Value, pointer: &str) {
    let Some(property) = root.pointer(pointer) else { return };
    let Some(examples) = property.get("examples").and_then(Value::as_array) else { return };
    let Some(validator) = validator_within(property, root) else { return };
    let fitting: Vec<Value> =
        examples.iter().filter(|example| validator.is_valid(example)).cloned().collect();
    let Some(property) = root.pointer_mut(pointer).and_then(Value::as_object_mut) else { return };
    if fitting.is_empty() {
        property.shift_remove("examples");
    } else {
        property.insert("examples".into(), fitting.into());
    }
}

/// Builds a validator for a part of a document, which may refer to the document's definitions.
fn validator_within(part: &Value, root: &Value) -> Option<Validator> {
    let mut document = part.clone();
    if let (Some(document), Some(definitions)) = (document.as_object_mut(), root.get("$defs")) {
        document.insert("$defs".into(), definitions.clone());
    }
    Validator::new(&document).ok()
}

/// Returns the problem with the default or an example of a part of the schema.
fn value_fault<'a>(part: &'a Value, names: &[&str], root: &Value) -> Option<Fault<'a>> {
    let default = part.get("default");
    let examples = part.get("examples").and_then(Value::as_array);
    if default.is_none() && examples.is_none_or(Vec::is_empty) {
        return None;
    }
    let mut shown = default.into_iter().chain(examples.into_iter().flatten());
    if shown.all(|value| plain::certainly_allows(part, value)) {
        return None;
    }
    let validator = validator_within(part, root)?;
    let shown = default.map(|value| ("default", value));
    let examples = examples.into_iter().flatten().map(|value| ("example", value));
    let (what, value) = shown.into_iter().chain(examples).find(|(_, value)| !validator.is_valid(value))?;
    Some(Fault { what, names: names.iter().map(|name| (*name).to_owned()).collect(), part, value })
}

/// Returns a definition that refers to itself without a property or an item in between: a validator would follow it
/// until the stack overflows.
pub(super) fn circle(schema: &Value) -> Option<String> {
    let mut done = Vec::new();
    let mut path = Vec::new();
    let definitions = schema.get("$defs").and_then(Value::as_object);
    find_circle(schema, schema, &mut path, &mut done).or_else(|| {
        definitions?.keys().find_map(|name| {
            let reference = format!("#/$defs/{}", crate::pointer::escape(name));
            follow(&reference, schema, &mut path, &mut done)
        })
    })
}

/// Same as [`circle`], for any place in the document.
pub(crate) fn circle_within(schema: &Value) -> Option<String> {
    let mut done = Vec::new();
    let mut path = Vec::new();
    let mut left = vec![schema];
    while let Some(part) = left.pop() {
        if let Some(name) = find_circle(part, schema, &mut path, &mut done) {
            return Some(name);
        }
        match part {
            Value::Object(members) => left.extend(members.values()),
            Value::Array(items) => left.extend(items),
            _ => {}
        }
    }
    None
}

fn find_circle(
    schema: &Value,
    root: &Value,
    path: &mut Vec<String>,
    done: &mut Vec<String>,
) -> Option<String> {
    let members = schema.as_object()?;
    if let Some(reference) = members.get("$ref").and_then(Value::as_str)
        && let Some(name) = follow(reference, root, path, done)
    {
        return Some(name);
    }
    let lists = ["anyOf", "oneOf", "allOf"].iter().filter_map(|key| members.get(*key)?.as_array()).flatten();
    let single = ["not", "if", "then", "else"].iter().filter_map(|key| members.get(*key));
    lists.chain(single).find_map(|part| find_circle(part, root, path, done))
}

fn follow(reference: &str, root: &Value, path: &mut Vec<String>, done: &mut Vec<String>) -> Option<String> {
    if path.iter().any(|step| step == reference) {
        return Some(reference.rsplit('/').next().unwrap_or(reference).to_owned());
    }
    if done.iter().any(|other| other == reference) {
        return None;
    }
    let target = reference.strip_prefix('#').and_then(|pointer| root.pointer(pointer))?;
    path.push(reference.to_owned());
    let found = find_circle(target, root, path, done);
    path.pop();
    done.push(reference.to_owned());
    found
}
