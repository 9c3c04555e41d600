//! Finds the secrets that a schema marks.

use super::{DEEPEST, SECRET, resolve};
use serde_json::Value;
use std::ptr;

/// Adds a schema and all the schemas that may describe the same value.
#[doc(hidden)]
pub fn add_variants<'a>(here: &mut Vec<&'a Value>, schema: &'a Value, root: &'a Value, depth: usize) {
    if depth > DEEPEST {
        return;
    }
    // A mark may be beside a reference.
    here.push(schema);
    let target = resolve(schema, root);
    if !ptr::eq(schema, target) {
        here.push(target);
    }
    for key in ["anyOf", "oneOf", "allOf"] {
        for part in target.get(key).and_then(Value::as_array).into_iter().flatten() {
            add_variants(here, part, root, depth + 1);
        }
    }
}

#[doc(hidden)]
pub fn is_marked(schema: &Value) -> bool {
    schema.get(SECRET) == Some(&Value::Bool(true))
}

/// Returns true if a secret is marked anywhere within. Each reference is followed once, because a definition may
/// contain itself.
#[doc(hidden)]
pub fn holds_mark<'a>(schema: &'a Value, root: &'a Value, followed: &mut Vec<&'a str>) -> bool {
    match schema {
        Value::Object(members) => {
            if is_marked(schema) || members.values().any(|member| holds_mark(member, root, followed)) {
                return true;
            }
            match members.get("$ref").and_then(Value::as_str) {
                Some(reference) if !followed.contains(&reference) => {
                    followed.push(reference);
                    holds_mark(resolve(schema, root), root, followed)
                }
                _ => false,
            }
        }
        Value::Array(items) => items.iter().any(|item| holds_mark(item, root, followed)),
        _ => false,
    }
}
