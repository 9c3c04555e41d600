//! Converts arguments written for a strict schema to those for the tool's own schema.

use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};

/// Marks a property that may be `null` only because it is required: `null` means that it is absent.
pub(super) const NULL_IS_ABSENT: &str = "\u{0}null is absent";

/// The greatest depth to which arguments are followed. JSON text nests at most 128 deep.
const DEEPEST: usize = 128;
/// The most variants of one value that are tried.
const MAX_OPTIONS: usize = 64;

/// The most values that are examined, counted once for each variant.
const MAX_STEPS: usize = 500_000;

/// Removes values that are `null` only because they were required. `schema` is a strict one, with marks. Returns true if a value
/// was removed.
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

/// The absent parts of a value.
#[derive(Default)]
struct Absent {
    /// The total number of absent parts.
    count: usize,
    /// The absent members.
    members: HashSet<String>,
    /// Members and items that contain absent parts.
    within: HashMap<String, Absent>,
    within_items: Vec<(usize, Absent)>,
}

/// Returns the absent parts of a value that matches the schema; `None` if it does not match.
///
/// Of several matching variants, the one with the fewest absent parts is used, because values should keep their literal meaning
/// if possible.
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
    // An object that is not strict may lack optional members; other members are required.
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
