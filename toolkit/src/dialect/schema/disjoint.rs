//! Whether variants exclude each other.

use super::document::names;
use super::kind;
use serde_json::{Map, Value};

/// Of more than these nobody says whether they do: each is compared with each other.
const MOST_COMPARED: usize = 512;

/// Whether no value can fit two of the written options: they are of different types, or differ in a constant that all of them
/// require.
pub(super) fn are_disjoint(options: &Value) -> bool {
    let Some(options) = options.as_array().filter(|options| options.len() <= MOST_COMPARED) else {
        return false;
    };
    options.iter().enumerate().all(|(index, first)| {
        options[index + 1..].iter().all(|second| {
            let (Some(first), Some(second)) = (first.as_object(), second.as_object()) else { return false };
            differ_in_type(first, second) || differ_in_tag(first, second) || differ_in_values(first, second)
        })
    })
}

fn differ_in_type(first: &Map<String, Value>, second: &Map<String, Value>) -> bool {
    match (kind::stated(first), kind::stated(second)) {
        (Some(first), Some(second)) => kind::common(&first, &second).is_empty(),
        _ => false,
    }
}

fn differ_in_values(first: &Map<String, Value>, second: &Map<String, Value>) -> bool {
    match (kind::values(first), kind::values(second)) {
        (Some(first), Some(second)) => {
            // Numbers may be the same under another spelling.
            first.iter().chain(&second).all(Value::is_string)
                && first.iter().all(|value| !second.contains(value))
        }
        _ => false,
    }
}

fn differ_in_tag(first: &Map<String, Value>, second: &Map<String, Value>) -> bool {
    let of = |schema: &Map<String, Value>, name: &str| -> Option<Map<String, Value>> {
        schema.get("properties")?.get(name)?.as_object().cloned()
    };
    let required = names(first.get("required"));
    let other = names(second.get("required"));
    required.into_iter().filter(|name| other.contains(name)).any(|name| {
        matches!((of(first, name), of(second, name)), (Some(first), Some(second)) if differ_in_values(&first, &second))
    })
}
