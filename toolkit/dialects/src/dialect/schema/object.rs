//! Writes objects in the flat form.

use super::document::names;
use super::null::nullable;
use super::presence::{MIND_PRESENCE, OF_SOME};
use super::{Rewriter, words};
use crate::dialect::read_back::NULL_IS_ABSENT;
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// Keywords of objects that the flat form does not express.
const LOST: [&str; 6] = [
    "minProperties",
    "maxProperties",
    "propertyNames",
    "dependentRequired",
    "dependentSchemas",
    "unevaluatedProperties",
];

impl Rewriter<'_> {
    /// Writes the object that a schema without references and alternatives describes.
    pub(super) fn flat_object(&mut self, part: &Map<String, Value>, sentences: &mut Vec<String>) -> Value {
        for key in LOST {
            if let Some(value) = part.get(key) {
                sentences.extend(words::demand(key, value));
                self.lose(part, key, "this dialect does not support it");
            }
        }
        let mut schema = Map::new();
        schema.insert("type".into(), "object".into());
        let none = Map::new();
        let properties = part.get("properties").and_then(Value::as_object).unwrap_or(&none);
        let required = names(part.get("required"));
        if self.profile.is_strict {
            self.strict_object(part, properties, &required, &mut schema);
        } else {
            self.loose_object(part, properties, &required, &mut schema);
        }
        schema.into()
    }

    /// Writes a closed object, with all properties required.
    fn strict_object(
        &mut self,
        part: &Map<String, Value>,
        properties: &Map<String, Value>,
        required: &[&str],
        schema: &mut Map<String, Value>,
    ) {
        let is_closed = part.get("additionalProperties") == Some(&Value::Bool(false));
        let patterns =
            part.get("patternProperties").and_then(Value::as_object).filter(|patterns| !patterns.is_empty());
        if !is_closed || patterns.is_some() {
            let key = if patterns.is_some() { "patternProperties" } else { "additionalProperties" };
            let why = "the object accepts additional properties, and a strict one cannot; \
                       close it with `additionalProperties: false` (in Rust: `#[serde(deny_unknown_fields)]`)";
            self.refuse(part, key, why);
            return;
        }
        let minds_presence = MIND_PRESENCE.iter().find(|key| part.contains_key(**key));
        let of_some: HashSet<&str> = names(part.get(OF_SOME)).into_iter().collect();
        let required: HashSet<&str> = required.iter().copied().collect();
        let mut written = Map::new();
        for (name, property) in properties {
            if name.starts_with('\u{0}') {
                self.refuse(part, "properties", "a property has a name that no provider accepts");
            }
            // No value matches the property, so it is always absent.
            let Some(mut property_written) = self.flat(property) else { continue };
            let is_optional = !required.contains(name.as_str());
            let takes_null = if is_optional { self.takes_null(property) } else { Some(false) };
            if takes_null.is_none() {
                let why = format!("it is unclear whether the optional `{name}` accepts `null`");
                self.refuse(part, "properties", &why);
            }
            if takes_null == Some(true) && (minds_presence.is_some() || of_some.contains(name.as_str())) {
                let why = format!(
                    "`{name}` may be absent or `null`, which are not the same here, and a strict schema has `null` for both"
                );
                self.refuse(part, minds_presence.unwrap_or(&"properties"), &why);
            }
            if is_optional && takes_null == Some(false) {
                property_written = nullable(property_written);
                if let Some(members) = property_written.as_object_mut() {
                    members.insert(NULL_IS_ABSENT.into(), true.into());
                }
            }
            written.insert(name.clone(), property_written);
        }
        let all: Vec<&String> = written.keys().collect();
        let all = json!(all);
        schema.insert("properties".into(), written.into());
        schema.insert("required".into(), all);
        schema.insert("additionalProperties".into(), false.into());
    }

    fn loose_object(
        &mut self,
        part: &Map<String, Value>,
        properties: &Map<String, Value>,
        required: &[&str],
        schema: &mut Map<String, Value>,
    ) {
        let mut written = Map::new();
        let mut is_open = false;
        let demanded: HashSet<&str> = required.iter().copied().collect();
        for (name, property) in properties {
            match self.flat(property) {
                Some(property) => drop(written.insert(name.clone(), property)),
                None => is_open |= demanded.contains(name.as_str()),
            }
        }
        for name in required {
            // A required property has to be named.
            written.entry(*name).or_insert_with(|| json!({}));
        }
        if !written.is_empty() {
            schema.insert("properties".into(), written.into());
        }
        if !required.is_empty() {
            schema.insert("required".into(), required.into());
        }
        if is_open {
            return;
        }
        if let Some(rest) = self.rest(part) {
            schema.insert("additionalProperties".into(), rest);
        }
    }

    /// Returns the schema for unnamed properties; `None` if they may be anything.
    fn rest(&mut self, part: &Map<String, Value>) -> Option<Value> {
        let patterns =
            part.get("patternProperties").and_then(Value::as_object).filter(|patterns| !patterns.is_empty());
        let rest = part.get("additionalProperties");
        let Some(patterns) = patterns else {
            return match rest? {
                Value::Bool(true) => None,
                Value::Bool(false) => Some(Value::Bool(false)),
                rest => Some(self.flat(rest).unwrap_or(Value::Bool(false))).filter(|rest| *rest != json!({})),
            };
        };
        self.lose(part, "patternProperties", "this dialect does not support property name patterns");
        let rest = rest.unwrap_or(&Value::Bool(true));
        let mut options: Vec<Value> = patterns.values().cloned().collect();
        if rest != &Value::Bool(false) {
            options.push(rest.clone());
        }
        let any = json!({ "anyOf": options });
        Some(self.flat(&any).unwrap_or(Value::Bool(false))).filter(|rest| *rest != json!({}))
    }
}
