//! Compares two schemas for equality.

use super::annotation::is_annotation;
use serde_json::{Map, Value};
use toolkit_core::schema::resolve;

/// Returns true if both are equal except for annotations; references are followed.
pub(super) fn same(one: &Value, one_root: &Value, other: &Value, other_root: &Value) -> bool {
    Pair { one_root, other_root, open: Vec::new() }.same(one, other, Under::Schema)
}

struct Pair<'a> {
    one_root: &'a Value,
    other_root: &'a Value,
    /// The references that are being compared: within them they count as equal.
    open: Vec<(&'a str, &'a str)>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Under {
    Schema,
    /// The names here are not keywords.
    Names,
    Values,
}

impl<'a> Pair<'a> {
    fn same(&mut self, one: &'a Value, other: &'a Value, under: Under) -> bool {
        match (one, other) {
            (Value::Object(one_members), Value::Object(other_members)) if under != Under::Values => {
                let (one_ref, other_ref) = (reference(one, under), reference(other, under));
                if let (Some(one_ref), Some(other_ref)) = (one_ref, other_ref) {
                    if self.open.contains(&(one_ref, other_ref)) {
                        return true;
                    }
                    let (one_root, other_root) = (self.one_root, self.other_root);
                    let (one_target, other_target) = (resolve(one, one_root), resolve(other, other_root));
                    self.open.push((one_ref, other_ref));
                    let is_same = !std::ptr::eq(one, one_target)
                        && !std::ptr::eq(other, other_target)
                        && self.same(one_target, other_target, Under::Schema);
                    self.open.pop();
                    return is_same && self.members(one_members, other_members, under, "$ref");
                }
                self.members(one_members, other_members, under, "")
            }
            (Value::Array(one), Value::Array(other)) if under == Under::Schema => {
                one.len() == other.len()
                    && one.iter().zip(other).all(|(one, other)| self.same(one, other, under))
            }
            _ => one == other,
        }
    }

    fn members(
        &mut self,
        one: &'a Map<String, Value>,
        other: &'a Map<String, Value>,
        under: Under,
        but: &str,
    ) -> bool {
        let counts = |key: &str| key != but && (under == Under::Names || !is_annotation(key));
        other.keys().filter(|key| counts(key)).all(|key| one.contains_key(key))
            && one.iter().filter(|(key, _)| counts(key)).all(|(key, value)| {
                other.get(key).is_some_and(|other| {
                    let next = match key.as_str() {
                        _ if under == Under::Names => Under::Schema,
                        "properties" | "patternProperties" | "dependentSchemas" => Under::Names,
                        "enum" | "const" | "default" | "required" | "type" => Under::Values,
                        _ => Under::Schema,
                    };
                    if matches!(key.as_str(), "enum" | "required" | "type") && under == Under::Schema {
                        return same_set(value, other);
                    }
                    self.same(value, other, next)
                })
            })
    }
}

fn reference(schema: &Value, under: Under) -> Option<&str> {
    if under == Under::Schema { schema.get("$ref")?.as_str() } else { None }
}

fn same_set(one: &Value, other: &Value) -> bool {
    match (one.as_array(), other.as_array()) {
        (Some(one), Some(other)) => {
            one.iter().all(|value| other.contains(value)) && other.iter().all(|value| one.contains(value))
        }
        _ => one == other,
    }
}
