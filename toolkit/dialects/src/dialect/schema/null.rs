//! Determines if a schema accepts `null`, and adds `null` to schemas.

use super::Rewriter;
use super::document::Document;
use crate::dialect::read_back::NULL_IS_ABSENT;
use serde_json::{Map, Value, json};

/// Returns the schema without marks, as it is sent.
pub(super) fn without_marks(schema: &Value) -> Value {
    match schema {
        Value::Object(members) => members
            .iter()
            .filter(|(key, _)| *key != NULL_IS_ABSENT)
            .map(|(key, member)| (key.clone(), without_marks(member)))
            .collect(),
        Value::Array(items) => items.iter().map(without_marks).collect(),
        other => other.clone(),
    }
}

/// Returns a written schema that also accepts `null`.
pub(super) fn nullable(schema: Value) -> Value {
    let Value::Object(mut members) = schema else { return schema };
    if members.is_empty() {
        return members.into();
    }
    if let Some(Value::Array(options)) = members.get_mut("anyOf") {
        let null = json!({"type": "null"});
        if !options.contains(&null) {
            options.push(null);
        }
        return members.into();
    }
    match members.get_mut("type") {
        Some(Value::String(kind)) if kind == "null" => {}
        Some(Value::String(kind)) => {
            let kind = std::mem::take(kind);
            members.insert("type".into(), json!([kind, "null"]));
        }
        Some(Value::Array(kinds)) if !kinds.iter().any(|kind| kind == "null") => kinds.push("null".into()),
        _ => {}
    }
    if let Some(Value::Array(values)) = members.get_mut("enum")
        && !values.contains(&Value::Null)
    {
        values.push(Value::Null);
    }
    members.into()
}

/// The most parts of a schema, and values of enums, that are checked for `null`: references can name the same parts again and again.
pub(super) const MAX_ASKED: usize = 100_000;

impl Rewriter<'_> {
    /// Returns true if `null` matches a schema; `None` if that is unknown, because the schema is nested too deep, needs too many
    /// checks, or refers to another document.
    pub(super) fn takes_null(&mut self, schema: &Value) -> Option<bool> {
        Asking { document: self.document, left: &mut self.asked }.takes(schema, 0)
    }
}

struct Asking<'a> {
    document: &'a Document,
    /// The number of parts that may still be checked.
    left: &'a mut usize,
}

impl Asking<'_> {
    fn takes(&mut self, schema: &Value, depth: usize) -> Option<bool> {
        self.charge(1)?;
        let members = match schema {
            Value::Bool(allows) => return Some(*allows),
            Value::Object(_) if depth > super::DEEPEST => return None,
            Value::Object(members) => members,
            _ => return Some(true),
        };
        self.charge(members.get("enum").and_then(Value::as_array).map_or(0, Vec::len))?;
        if !own_words_take_null(members) {
            return Some(false);
        }
        let depth = depth + 1;
        let list = |key: &str| members.get(key).and_then(Value::as_array).map(Vec::as_slice);
        let mut is_known = true;
        // One requirement that excludes `null` decides, even if others are unknown.
        if let Some(reference) = members.get("$ref").and_then(Value::as_str) {
            match self.document.find(reference).and_then(|target| self.takes(target, depth)) {
                Some(true) => {}
                Some(false) => return Some(false),
                None => is_known = false,
            }
        }
        for (key, least, most) in
            [("allOf", usize::MAX, usize::MAX), ("anyOf", 1, usize::MAX), ("oneOf", 1, 1)]
        {
            let Some(parts) = list(key) else { continue };
            let (takers, unknown) = self.takers(parts, depth)?;
            let least = least.min(parts.len().max(1));
            if key == "allOf" && parts.is_empty() {
                continue;
            }
            if takers + unknown < least || takers > most {
                return Some(false);
            }
            is_known &= takers >= least && (takers + unknown <= most || unknown == 0);
        }
        if let Some(not) = members.get("not") {
            match self.takes(not, depth) {
                Some(true) => return Some(false),
                Some(false) => {}
                None => is_known = false,
            }
        }
        if let Some(condition) = members.get("if") {
            let is_met = self.takes(condition, depth);
            let key = if is_met? { "then" } else { "else" };
            if let Some(part) = members.get(key)
                && !self.takes(part, depth)?
            {
                return Some(false);
            }
        }
        is_known.then_some(true)
    }

    /// Returns how many parts accept `null`, and for how many that is unknown.
    fn takers(&mut self, parts: &[Value], depth: usize) -> Option<(usize, usize)> {
        let (mut takers, mut unknown) = (0, 0);
        for part in parts {
            match self.takes(part, depth) {
                Some(fits) => takers += usize::from(fits),
                None if *self.left == 0 => return None,
                None => unknown += 1,
            }
        }
        Some((takers, unknown))
    }

    fn charge(&mut self, count: usize) -> Option<()> {
        let left = self.left.checked_sub(count);
        *self.left = left.unwrap_or(0);
        left.map(drop)
    }
}

fn own_words_take_null(members: &Map<String, Value>) -> bool {
    let kinds = match members.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "null"),
        Some(kind) => kind == "null",
        None => true,
    };
    kinds
        && members.get("const").is_none_or(Value::is_null)
        && members.get("enum").and_then(Value::as_array).is_none_or(|values| values.contains(&Value::Null))
}
