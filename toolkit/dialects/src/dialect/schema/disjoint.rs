//! Determines if variants exclude each other.

use super::document::names;
use super::kind::{self, Kind};
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};

/// The most variants that are compared, each with each other; the result for more is unknown.
const MAX_COMPARED: usize = 512;

/// The most comparisons of values and tags; beyond that the result is unknown.
const MAX_COMPARISONS: usize = 1_000_000;

/// Returns true if no value can match two of the written options: they have different types, or different values of a
/// constant that all of them require.
pub(super) fn are_disjoint(options: &Value) -> bool {
    let Some(options) = options.as_array().filter(|options| options.len() <= MAX_COMPARED) else {
        return false;
    };
    let marks: Option<Vec<Marks>> = options.iter().map(|option| option.as_object().map(Marks::of)).collect();
    // Only objects have marks; other options exclude nothing.
    let Some(marks) = marks else { return options.len() < 2 };
    let mut left = MAX_COMPARISONS;
    marks.iter().enumerate().all(|(index, first)| {
        marks[index + 1..].iter().all(|second| first.excludes(second, &mut left) && left > 0)
    })
}

/// The properties that distinguish an option from others.
struct Marks {
    kinds: Option<Vec<Kind>>,
    values: Option<HashSet<String>>,
    /// The values of required properties.
    tags: HashMap<String, HashSet<String>>,
}

impl Marks {
    fn of(option: &Map<String, Value>) -> Self {
        let tag = |name: &str| texts(option.get("properties")?.get(name)?.as_object()?);
        let required = names(option.get("required"));
        Self {
            kinds: kind::stated(option),
            values: texts(option),
            tags: required.into_iter().filter_map(|name| Some((name.to_owned(), tag(name)?))).collect(),
        }
    }

    fn excludes(&self, other: &Self, left: &mut usize) -> bool {
        let differ_in_kind = match (&self.kinds, &other.kinds) {
            (Some(own), Some(others)) => kind::common(own, others).is_empty(),
            _ => false,
        };
        let mut differ = |own: &HashSet<String>, others: &HashSet<String>| {
            *left = left.saturating_sub(1 + own.len().min(others.len()));
            *left > 0 && own.is_disjoint(others)
        };
        differ_in_kind
            || matches!((&self.values, &other.values), (Some(own), Some(others)) if differ(own, others))
            || self.tags.iter().any(|(name, own)| {
                let others = other.tags.get(name);
                differ(own, others.unwrap_or(own)) && others.is_some()
            })
    }
}

/// Returns the values that a schema names, if all are texts: equal numbers may have different spellings.
fn texts(schema: &Map<String, Value>) -> Option<HashSet<String>> {
    let text = |value: Value| match value {
        Value::String(text) => Some(text),
        _ => None,
    };
    kind::values(schema)?.into_iter().map(text).collect()
}
