//! Combines the object variants of a schema into one object.

use super::document::{is_place, names, stand_at};
use super::kind::{self, Kind};
use super::presence::{MIND_PRESENCE, OF_SOME};
use super::{Rewriter, count};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashSet};

impl Rewriter<'_> {
    /// Combines alternatives of objects into one object that accepts every value that any of them accepts, except that a property has the
    /// schemas of the alternatives that name it, although an open alternative that does not name it accepts any value there. Returns
    /// `None` if there are none.
    ///
    /// The result does not express which properties belong together.
    pub(super) fn one_object(&mut self, alternatives: Vec<Map<String, Value>>) -> Option<Map<String, Value>> {
        let is_object = |schema: &Map<String, Value>| {
            kind::stated(schema).is_none_or(|kinds| kinds.contains(&Kind::Object))
        };
        let mut alternatives: Vec<_> = alternatives.into_iter().filter(is_object).collect();
        if alternatives.len() < 2 {
            return alternatives.pop();
        }
        let mut one = Map::new();
        stand_at(&mut one, &alternatives[0]);
        one.insert("type".into(), "object".into());
        let own = |alternative: &Map<String, Value>| -> Vec<String> {
            let properties = alternative.get("properties").and_then(Value::as_object);
            properties.into_iter().flat_map(Map::keys).cloned().collect()
        };
        let mut properties: Map<String, Value> = Map::new();
        let mut of_some = Vec::new();
        let minds_presence = alternatives
            .iter()
            .any(|alternative| MIND_PRESENCE.iter().any(|key| alternative.contains_key(*key)));
        for name in alternatives.iter().flat_map(own) {
            if properties.contains_key(&name) {
                continue;
            }
            if minds_presence || !says_all_the_same(&name, &alternatives) {
                of_some.push(name.clone());
            }
            let property = self.property_of_all(&name, &alternatives);
            properties.insert(name, property);
        }
        // A pattern in one object may apply to a name of another.
        let is_closed = |schema: &Map<String, Value>| {
            schema.get("additionalProperties") == Some(&Value::Bool(false))
                && !schema.contains_key("patternProperties")
        };
        let are_closed = alternatives.iter().all(is_closed);
        one.insert(OF_SOME.into(), json!(of_some));
        one.insert("properties".into(), properties.into());
        let of_each: Vec<HashSet<&str>> = alternatives
            .iter()
            .map(|alternative| names(alternative.get("required")).into_iter().collect())
            .collect();
        let required: Vec<&str> = names(alternatives[0].get("required"))
            .into_iter()
            .filter(|name| of_each.iter().all(|required| required.contains(name)))
            .collect();
        one.insert("required".into(), required.into());
        if are_closed {
            one.insert("additionalProperties".into(), false.into());
        }
        Some(one)
    }

    /// Returns a schema that accepts every value that any of the objects which name a property accepts for it, or accepts by a schema of
    /// further properties. A model would otherwise learn neither the type nor the bounds of a property of open objects.
    fn property_of_all(&mut self, name: &str, alternatives: &[Map<String, Value>]) -> Value {
        let mut options: Vec<Value> = Vec::new();
        let mut seen = HashSet::new();
        for alternative in alternatives {
            let own = alternative.get("properties").and_then(|properties| properties.get(name));
            let option = match (own, alternative.get("additionalProperties")) {
                (Some(own), _) => own,
                (None, _) if alternative.contains_key("patternProperties") => {
                    return any_value(name, alternatives);
                }
                (None, None | Some(Value::Bool(true))) => continue,
                (None, Some(rest)) => rest,
            };
            if option == &Value::Bool(true) {
                return any_value(name, alternatives);
            }
            let size = count(option, self.copies);
            if !self.copy(alternative, size) {
                return Value::Bool(true);
            }
            if option != &Value::Bool(false) && seen.insert(spelt(option)) {
                options.push(option.clone());
            }
        }
        match options.len() {
            0 => return Value::Bool(false),
            1 => return options.remove(0),
            _ => {}
        }
        let mut any = Map::new();
        if let Some(values) = all_values(&options) {
            any.insert("enum".into(), values);
            any.insert("type".into(), "string".into());
        } else {
            any.insert("anyOf".into(), options.clone().into());
        }
        if let Some(first) = options.first().and_then(Value::as_object) {
            stand_at(&mut any, first);
            if let Some(text) = first.get("description")
                && options.iter().all(|option| option.get("description").is_none_or(|other| other == text))
            {
                any.insert("description".into(), text.clone());
            }
        }
        any.into()
    }
}

/// Returns a schema that accepts any value, with the first description that an object has for a name.
fn any_value(name: &str, alternatives: &[Map<String, Value>]) -> Value {
    let description = |alternative: &Map<String, Value>| {
        alternative.get("properties")?.get(name)?.get("description").cloned()
    };
    match alternatives.iter().find_map(description) {
        Some(description) => json!({ "description": description }),
        None => Value::Bool(true),
    }
}

/// Returns true if all objects have the same schema for a name.
fn says_all_the_same(name: &str, alternatives: &[Map<String, Value>]) -> bool {
    let own = |alternative: &Map<String, Value>| alternative.get("properties")?.get(name).map(spelt);
    let first = alternatives.first().and_then(own);
    first.is_some() && alternatives.iter().all(|alternative| own(alternative) == first)
}

/// Returns the same text for two equal schemas, regardless of their places and the order of keys.
fn spelt(schema: &Value) -> String {
    fn sorted(schema: &Value) -> Value {
        match schema {
            Value::Object(members) => {
                let own: BTreeMap<&String, Value> = members
                    .iter()
                    .filter(|(key, _)| !is_place(key))
                    .map(|(key, value)| (key, sorted(value)))
                    .collect();
                own.into_iter().map(|(key, value)| (key.clone(), value)).collect()
            }
            Value::Array(items) => items.iter().map(sorted).collect(),
            other => other.clone(),
        }
    }
    sorted(schema).to_string()
}

/// Returns the strings that the options name, if the options consist of nothing else: the tags of an enum.
fn all_values(options: &[Value]) -> Option<Value> {
    let mut all = Vec::new();
    let mut seen = HashSet::new();
    for option in options {
        let members = option.as_object()?;
        let is_plain = members.keys().all(|key| {
            matches!(key.as_str(), "const" | "enum" | "type" | "title" | "description") || is_place(key)
        });
        for value in kind::values(members).filter(|_| is_plain)? {
            if seen.insert(value.as_str()?.to_owned()) {
                all.push(value);
            }
        }
    }
    Some(all.into())
}
