//! Writes a schema in all of JSON Schema, except references.

use super::disjoint::are_disjoint;
use super::document::{Holds, holds, is_place, names};
use super::flatten::{DYNAMIC, SAID};
use super::pattern::is_plain_pattern;
use super::profile::Writing;
use super::{Rewriter, words};
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// Keywords that are written unchanged.
const KEPT: [&str; 24] = [
    "type",
    "description",
    "default",
    "examples",
    "enum",
    "const",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "required",
    "dependentRequired",
    "minContains",
    "contentEncoding",
];

/// Keywords that grammars do not support.
const NO_GRAMMAR: [&str; 9] = [
    "uniqueItems",
    "dependentRequired",
    "dependentSchemas",
    "propertyNames",
    "not",
    "if",
    "contains",
    "unevaluatedProperties",
    "unevaluatedItems",
];

/// Keywords that are written with another keyword, or last.
const LATER: [&str; 6] =
    ["then", "else", "maxContains", "unevaluatedProperties", "unevaluatedItems", "properties"];

impl Rewriter<'_> {
    /// Writes the schema without references, useless keywords, and keywords that the dialect does not accept.
    pub(super) fn whole(&mut self, schema: &Value) -> Value {
        let members = match schema {
            Value::Object(members) => members,
            Value::Bool(false) if self.is_for_grammars() => return Value::Bool(false),
            Value::Bool(false) => return json!({"not": {}}),
            _ => return json!({}),
        };
        let written =
            if self.enter(schema) && self.spend(members) { self.whole_members(members) } else { json!({}) };
        self.depth -= 1;
        written
    }

    fn whole_members(&mut self, members: &Map<String, Value>) -> Value {
        let before = self.lost;
        let simple;
        let mut sentences = Vec::new();
        let members = if self.is_for_grammars() {
            simple = self.for_grammars(members, &mut sentences);
            &simple
        } else {
            members
        };
        let target = self.whole_target(members);
        let mut written = Map::new();
        for (key, value) in members {
            if KEPT.contains(&key.as_str()) {
                written.insert(key.clone(), value.clone());
            } else if !LATER.contains(&key.as_str()) && !is_place(key) {
                self.whole_keyword(members, key, value, &mut written);
            } else if key == "properties" {
                // This keeps its position among the keywords.
                written.insert(key.clone(), json!({}));
            }
        }
        self.whole_properties(members, &mut written);
        self.whole_condition(members, &mut written);
        self.whole_count(members, &mut written);
        if self.is_for_grammars() {
            mend_lists(members, &mut written);
        }
        for key in ["unevaluatedProperties", "unevaluatedItems"] {
            let Some(rest) = members.get(key) else { continue };
            // Properties and items of a part that was left out would count as unevaluated.
            if self.lost == before {
                let rest = if rest.is_boolean() { rest.clone() } else { self.whole(rest) };
                written.insert(key.to_owned(), rest);
            } else {
                self.lose(members, key, "keywords that were dropped here would count as unevaluated");
            }
        }
        let mut whole = with_target(written, target);
        if let Some(whole) = whole.as_object_mut() {
            words::add(whole, &sentences);
        }
        whole
    }

    fn is_for_grammars(&self) -> bool {
        self.profile.writing == Writing::Whole { for_grammars: true }
    }

    /// Writes the schema without keywords that grammars do not support, which become text in the description.
    fn for_grammars(
        &mut self,
        members: &Map<String, Value>,
        sentences: &mut Vec<String>,
    ) -> Map<String, Value> {
        let mut simple = members.clone();
        let is_put_together = ["$ref", "allOf", "anyOf", "oneOf", "if", "dependentSchemas"]
            .iter()
            .chain(&DYNAMIC)
            .any(|key| members.contains_key(*key));
        if let (false, false, Some(rest)) = (
            is_put_together,
            members.contains_key("additionalProperties"),
            members.get("unevaluatedProperties"),
        ) {
            // Without other keywords there is none that could evaluate properties.
            simple.shift_remove("unevaluatedProperties");
            simple.insert("additionalProperties".into(), rest.clone());
        }
        let patterns = members.get("patternProperties").and_then(Value::as_object);
        let unsaid = patterns.and_then(|patterns| {
            if patterns.len() > 1 {
                Some("servers that compile it to a grammar need disjoint patterns")
            } else if patterns.keys().any(|pattern| !is_plain_pattern(pattern)) {
                Some("servers that compile it to a grammar do not support look-around")
            } else {
                None
            }
        });
        if let Some(reason) = unsaid {
            self.lose(members, "patternProperties", reason);
            simple.shift_remove("patternProperties");
            simple.shift_remove("additionalProperties");
        }
        let required: HashSet<&str> = names(members.get("required")).into_iter().collect();
        let properties = members.get("properties").and_then(Value::as_object);
        let has_optional =
            properties.into_iter().flat_map(Map::keys).any(|name| !required.contains(name.as_str()));
        let is_lost = |(key, value): (&String, &Value)| match key.as_str() {
            "pattern" => !value.as_str().is_some_and(is_plain_pattern),
            "format" => {
                let known = self.profile.formats.unwrap_or_default();
                !value.as_str().is_some_and(|format| known.contains(&format))
            }
            "uniqueItems" => value == &Value::Bool(true),
            // A grammar does not count optional properties.
            "minProperties" | "maxProperties" => has_optional,
            key => NO_GRAMMAR.contains(&key),
        };
        let lost: Vec<String> =
            simple.iter().filter(|member| is_lost(*member)).map(|(key, _)| key.clone()).collect();
        for key in lost {
            if let Some(value) = simple.shift_remove(&key) {
                sentences.extend(words::demand(&key, &value));
                self.lose(members, &key, "servers that compile it to a grammar do not support it");
            }
        }
        simple
    }

    /// Writes a part; returns a schema for any value if no value matches the part but that cannot be expressed.
    fn whole_or_anything(&mut self, members: &Map<String, Value>, key: &str, part: &Value) -> Value {
        match self.whole(part) {
            Value::Bool(false) => {
                self.lose(members, key, "the dialect cannot express that no value is valid");
                json!({})
            }
            written => written,
        }
    }

    fn whole_keyword(
        &mut self,
        members: &Map<String, Value>,
        key: &str,
        value: &Value,
        into: &mut Map<String, Value>,
    ) {
        let written = match (key, holds(key), value) {
            ("oneOf", _, Value::Array(options)) => return self.whole_one_of(members, options, into),
            ("not", ..) => match self.exact(value) {
                Some(not) => not,
                None => return self.lose(members, key, "a part of it cannot be expressed"),
            },
            ("$defs" | "definitions" | "if" | "contains" | "contentSchema", ..) => return,
            ("additionalProperties", _, Value::Bool(_)) => value.clone(),
            (_, Holds::Schema, schema) => self.whole(schema),
            ("anyOf", _, Value::Array(options)) => match self.whole_options(options) {
                options if options.is_empty() => {
                    return self.lose(members, key, "the dialect cannot express that no value is valid");
                }
                options => options.into(),
            },
            (_, Holds::Schemas, Value::Array(parts)) => {
                parts.iter().map(|part| self.whole_or_anything(members, key, part)).collect()
            }
            (_, Holds::SchemasByName, Value::Object(parts)) => parts
                .iter()
                .map(|(name, part)| (name.clone(), self.whole_or_anything(members, key, part)))
                .collect(),
            ("$dynamicRef" | "$recursiveRef", ..) => {
                return self.lose(members, key, "this dialect has no references");
            }
            // A useless or unknown keyword.
            _ => return,
        };
        into.insert(key.to_owned(), written);
    }

    /// Writes a part if nothing of it is lost: a looser part would make the whole narrower. Losses within it are not reported.
    fn exact(&mut self, part: &Value) -> Option<Value> {
        let (told, before) = (self.losses.len(), self.lost);
        let written = self.whole(part);
        for loss in self.losses.split_off(told) {
            self.told.remove(&loss);
        }
        (self.lost == before).then_some(written)
    }

    fn whole_options(&mut self, options: &[Value]) -> Vec<Value> {
        let written = options.iter().map(|option| self.whole(option));
        written.filter(|option| *option != Value::Bool(false)).collect()
    }

    fn whole_one_of(
        &mut self,
        members: &Map<String, Value>,
        options: &[Value],
        into: &mut Map<String, Value>,
    ) {
        let before = self.lost;
        let written = self.whole_options(options);
        if written.is_empty() {
            return self.lose(members, "oneOf", "the dialect cannot express that no value is valid");
        }
        let written = Value::Array(written);
        // Options that became looser could both match.
        let is_exact = self.lost == before;
        if is_exact && !self.is_for_grammars() {
            into.insert("oneOf".into(), written);
            return;
        }
        if !is_exact || !are_disjoint(&written) {
            self.lose(members, "oneOf", "the dialect cannot require that exactly one variant matches");
        }
        if into.contains_key("anyOf") || members.contains_key("anyOf") {
            let other = json!({ "anyOf": written });
            match into.get_mut("allOf") {
                Some(Value::Array(parts)) => parts.push(other),
                _ => self.lose(members, "oneOf", "there is an `anyOf` beside it"),
            }
        } else {
            into.insert("anyOf".into(), written);
        }
    }

    fn whole_condition(&mut self, members: &Map<String, Value>, into: &mut Map<String, Value>) {
        // A condition without consequences still evaluates properties.
        let Some(condition) = members.get("if") else { return };
        let Some(condition) = self.exact(condition) else {
            return self.lose(members, "if", "a part of the condition cannot be expressed");
        };
        into.insert("if".into(), condition);
        for key in ["then", "else"] {
            if let Some(part) = members.get(key) {
                let part = self.whole(part);
                into.insert(key.to_owned(), part);
            }
        }
    }

    fn whole_count(&mut self, members: &Map<String, Value>, into: &mut Map<String, Value>) {
        let Some(contains) = members.get("contains") else {
            into.shift_remove("minContains");
            return;
        };
        let most = members.get("maxContains");
        match self.exact(contains) {
            Some(contains) => {
                into.insert("contains".into(), contains);
                if let Some(most) = most {
                    into.insert("maxContains".into(), most.clone());
                }
            }
            None => {
                into.shift_remove("minContains");
                self.lose(members, "contains", "a part of it cannot be expressed");
            }
        }
    }

    fn whole_properties(&mut self, members: &Map<String, Value>, into: &mut Map<String, Value>) {
        let Some(properties) = members.get("properties").and_then(Value::as_object) else { return };
        let mut written = Map::new();
        let mut left_out = Vec::new();
        let mut never = Vec::new();
        let is_closed = members.get("additionalProperties") == Some(&Value::Bool(false));
        for (name, property) in properties {
            if (self.profile.takes_name)(name) {
                match self.whole(property) {
                    Value::Bool(false) => never.push(name.as_str()),
                    property => drop(written.insert(name.clone(), property)),
                }
            } else {
                left_out.push(name.as_str());
                let part = property.as_object().unwrap_or(members);
                self.lose(part, "properties", "this dialect does not take a property of this name");
            }
        }
        into.insert("properties".into(), written.into());
        let required = names(members.get("required"));
        let demanded: HashSet<&str> = required.iter().copied().collect();
        if never.iter().any(|name| !is_closed || demanded.contains(name)) {
            self.lose(members, "properties", "the dialect cannot express that a property is always absent");
        }
        let unsaid: HashSet<&str> = left_out.iter().chain(&never).copied().collect();
        let is_said = |name: &&str| !unsaid.contains(name);
        let said: Vec<&str> = required.iter().copied().filter(is_said).collect();
        if said.len() < required.len() {
            into.insert("required".into(), said.into());
        }
        if left_out.is_empty() {
            return;
        }
        into.insert("additionalProperties".into(), true.into());
        let sentence = format!(
            "It also takes {}.",
            left_out.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ")
        );
        words::add(into, &[sentence]);
    }

    /// Writes the target of a reference.
    fn whole_target(&mut self, members: &Map<String, Value>) -> Option<Map<String, Value>> {
        let reference = members.get("$ref")?.as_str()?;
        let target = self.follow(members, reference)?;
        let target = self.whole(target);
        self.followed.leave(reference);
        match target {
            Value::Object(target) => Some(target),
            _ => {
                self.lose(members, "$ref", "the dialect cannot express that no value is valid");
                None
            }
        }
    }
}

/// Replaces a reference by its target.
fn with_target(mut written: Map<String, Value>, target: Option<Map<String, Value>>) -> Value {
    let Some(mut target) = target else { return written.into() };
    if written.keys().any(|key| !SAID.contains(&key.as_str())) {
        match written.get_mut("allOf") {
            Some(Value::Array(parts)) => parts.push(target.into()),
            _ => drop(written.insert("allOf".into(), json!([target]))),
        }
        return written.into();
    }
    for (key, value) in written {
        target.shift_remove(&key);
        let place = if key == "description" { 0 } else { target.len() };
        target.shift_insert(place, key, value);
    }
    target.into()
}

/// Expresses items that no value matches by the length of the list.
fn mend_lists(members: &Map<String, Value>, written: &mut Map<String, Value>) {
    if written.get("items") == Some(&Value::Bool(false)) {
        let places = written.get("prefixItems").and_then(Value::as_array).map_or(0, Vec::len) as u64;
        let most = written.get("maxItems").and_then(Value::as_u64).map_or(places, |most| most.min(places));
        written.insert("items".into(), json!({}));
        written.insert("maxItems".into(), most.into());
    } else if is_list(members) {
        written.entry("items").or_insert_with(|| json!({}));
    }
}

fn is_list(members: &Map<String, Value>) -> bool {
    match members.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(|kind| kind == "array"),
        Some(kind) => kind == "array",
        None => false,
    }
}
