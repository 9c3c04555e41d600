//! Arguments that a strict schema made a model write, as the tool's own schema means them.

use super::schema::NULL_IS_ABSENT;
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};

/// How deep arguments are followed. JSON text nests at most 128 deep.
const DEEPEST: usize = 128;
/// How many variants of one value are tried.
const MAX_OPTIONS: usize = 64;

/// How many values, each with each variant, are looked at.
const MAX_STEPS: usize = 500_000;

/// Takes out what is `null` only since it had to be there. `schema` is a strict one, with marks. Whether something was taken out.
pub(super) fn read_back(value: &mut Value, schema: &Value) -> bool {
    let mut steps = MAX_STEPS;
    match absent(value, schema, 0, &mut steps) {
        Some(absent) if absent.count > 0 => {
            take_out(value, &absent);
            true
        }
        _ => false,
    }
}

/// What is absent within a value.
#[derive(Default)]
struct Absent {
    /// How much in all.
    count: usize,
    /// Members that are.
    members: HashSet<String>,
    /// Members and items within which something is.
    within: HashMap<String, Absent>,
    within_items: Vec<(usize, Absent)>,
}

/// What is absent in a value that fits the schema; `None` where it does not fit.
///
/// Of several variants that fit, the one counts in which the least is absent: what can be meant as it stands is.
fn absent(value: &Value, schema: &Value, depth: usize, steps: &mut usize) -> Option<Absent> {
    *steps = steps.checked_sub(1)?;
    let members = schema.as_object().filter(|_| depth < DEEPEST)?;
    if let Some(options) = members.get("anyOf").and_then(Value::as_array) {
        let mut best: Option<Absent> = None;
        for option in options.iter().take(MAX_OPTIONS) {
            let Some(found) = absent(value, option, depth + 1, steps) else { continue };
            if found.count == 0 {
                return Some(found);
            }
            if best.as_ref().is_none_or(|best| found.count < best.count) {
                best = Some(found);
            }
        }
        return best;
    }
    if !fits_type(value, members) || !fits_values(value, members) {
        return None;
    }
    match value {
        Value::Object(given) => absent_in_object(given, members, depth, steps),
        Value::Array(items) => {
            let mut all = Absent::default();
            let Some(each) = members.get("items") else { return Some(all) };
            for (index, item) in items.iter().enumerate() {
                let inner = absent(item, each, depth + 1, steps)?;
                if inner.count > 0 {
                    all.count += inner.count;
                    all.within_items.push((index, inner));
                }
            }
            Some(all)
        }
        _ => Some(Absent::default()),
    }
}

fn absent_in_object(
    given: &Map<String, Value>,
    schema: &Map<String, Value>,
    depth: usize,
    steps: &mut usize,
) -> Option<Absent> {
    let properties = schema.get("properties")?.as_object()?;
    let mut all = Absent::default();
    for (name, member) in given {
        let property = properties.get(name)?;
        let is_marked = property.get(NULL_IS_ABSENT).is_some();
        if member.is_null() && is_marked {
            all.count += 1;
            all.members.insert(name.clone());
            continue;
        }
        let inner = absent(member, property, depth + 1, steps)?;
        if inner.count > 0 {
            all.count += inner.count;
            all.within.insert(name.clone(), inner);
        }
    }
    // One that is not strict may leave out what is optional; what is not has to be there.
    let is_there = |(name, property): (&String, &Value)| {
        given.contains_key(name) || property.get(NULL_IS_ABSENT).is_some()
    };
    properties.iter().all(is_there).then_some(all)
}

fn fits_type(value: &Value, schema: &Map<String, Value>) -> bool {
    let fits = |kind: &Value| match (kind.as_str().unwrap_or_default(), value) {
        ("null", Value::Null)
        | ("boolean", Value::Bool(_))
        | ("string", Value::String(_))
        | ("array", Value::Array(_))
        | ("object", Value::Object(_))
        | ("number", Value::Number(_)) => true,
        ("integer", Value::Number(number)) => number.as_f64().is_none_or(|float| float.fract() == 0.0),
        _ => false,
    };
    match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(fits),
        Some(kind) => fits(kind),
        None => true,
    }
}

fn fits_values(value: &Value, schema: &Map<String, Value>) -> bool {
    schema.get("enum").and_then(Value::as_array).is_none_or(|values| {
        values
            .iter()
            .any(|other| other == value || other.as_f64().is_some_and(|other| value.as_f64() == Some(other)))
    })
}

fn take_out(value: &mut Value, absent: &Absent) {
    match value {
        Value::Object(members) => {
            members.retain(|name, _| !absent.members.contains(name));
            for (name, inner) in &absent.within {
                if let Some(member) = members.get_mut(name) {
                    take_out(member, inner);
                }
            }
        }
        Value::Array(items) => {
            for (index, inner) in &absent.within_items {
                if let Some(item) = items.get_mut(*index) {
                    take_out(item, inner);
                }
            }
        }
        _ => {}
    }
}
