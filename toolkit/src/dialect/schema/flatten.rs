//! A schema that is put together of others, as alternatives that are not.

use super::Rewriter;
use super::document::{is_place, names, stand_at};
use super::kind::{self, Kind};
use super::meet::meet;
use serde_json::{Map, Value, json};

/// More alternatives than these are not written out.
const MOST_ALTERNATIVES: usize = 64;

/// What is said of a value, and is no part of what it may be.
pub(super) const SAID: [&str; 3] = ["description", "default", "examples"];

/// Under this key stand the properties that not all of the objects have which were made one.
pub(super) const OF_SOME: &str = "\u{0}of some";

/// A schema without references, taken apart.
pub(super) struct Apart {
    /// What is said of the value, and where.
    pub(super) said: Map<String, Value>,
    /// Of which one has to fit. Each is without references, and not put together of others.
    pub(super) alternatives: Vec<Map<String, Value>>,
    /// Whether exactly one has to fit.
    pub(super) is_one_only: bool,
}

/// A schema with its parts, while they are collected.
#[derive(Default)]
struct Parts {
    base: Map<String, Value>,
    unions: Vec<Vec<Value>>,
    is_one_only: bool,
}

impl<'d> Rewriter<'d> {
    /// Takes a schema apart. The references that were followed stay on the stack, for what is below.
    pub(super) fn apart(&mut self, schema: &Value) -> Apart {
        let apart = if self.enter(schema) {
            self.take_apart(schema)
        } else {
            Apart { said: Map::new(), alternatives: vec![Map::new()], is_one_only: false }
        };
        self.depth -= 1;
        apart
    }

    fn take_apart(&mut self, schema: &Value) -> Apart {
        let mut parts = Parts::default();
        let is_possible = self.collect(schema, &mut parts, 0);
        let Parts { mut base, unions, is_one_only } = parts;
        let mut is_one_only = is_one_only && unions.len() == 1;
        let mut said = Map::new();
        for key in SAID {
            if let Some(value) = base.shift_remove(key) {
                said.insert(key.to_owned(), value);
            }
        }
        stand_at(&mut said, &base);
        if !is_possible {
            return Apart { said, alternatives: Vec::new(), is_one_only };
        }
        let closed_by = base.shift_remove("unevaluatedProperties");
        let mut alternatives = vec![base];
        for union in unions {
            alternatives = self.product(alternatives, &union, &mut is_one_only);
        }
        if let Some(rest) = closed_by {
            close(&mut alternatives, &rest, is_one_only);
            for alternative in alternatives.iter().filter(|other| !other.contains_key("additionalProperties"))
            {
                self.lose(alternative, "unevaluatedProperties", "this dialect does not say it");
            }
        }
        is_one_only &= alternatives.len() > 1;
        Apart { said, alternatives, is_one_only }
    }

    /// Adds a schema to what has to fit; false where nothing can.
    fn collect(&mut self, schema: &Value, parts: &mut Parts, depth: usize) -> bool {
        let members = match schema {
            Value::Bool(allows) => return *allows,
            Value::Object(members) => members,
            _ => return true,
        };
        if depth > super::DEEPEST || !self.spend(members) {
            return true;
        }
        let is_plain =
            |key: &str| !matches!(key, "allOf" | "anyOf" | "oneOf" | "$ref" | "$defs" | "definitions");
        let plain: Map<String, Value> = members
            .iter()
            .filter(|(key, _)| is_plain(key))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        let mut lost = Vec::new();
        let first = std::mem::take(&mut parts.base);
        let base = meet(&first, &plain, &mut |key| lost.push(key.to_owned()));
        parts.base = base;
        for key in lost {
            self.lose(members, &key, "two of it cannot be said of one value");
        }
        if let Some(reference) = members.get("$ref").and_then(Value::as_str)
            && let Some(target) = self.follow(members, reference)
            && !self.collect(target, parts, depth + 1)
        {
            return false;
        }
        for part in members.get("allOf").and_then(Value::as_array).into_iter().flatten() {
            if !self.collect(part, parts, depth + 1) {
                return false;
            }
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(options) = members.get(key).and_then(Value::as_array) {
                parts.is_one_only |= key == "oneOf";
                parts.unions.push(options.clone());
            }
        }
        true
    }

    /// Each of the alternatives with each of the options.
    fn product(
        &mut self,
        alternatives: Vec<Map<String, Value>>,
        options: &[Value],
        is_one_only: &mut bool,
    ) -> Vec<Map<String, Value>> {
        let mut options_apart = Vec::new();
        for option in options {
            let Apart { said, alternatives, .. } = self.apart(option);
            *is_one_only &= alternatives.len() < 2;
            for mut alternative in alternatives {
                for (key, value) in &said {
                    if !is_place(key) {
                        alternative.entry(key.clone()).or_insert_with(|| value.clone());
                    }
                }
                options_apart.push(alternative);
            }
            if options_apart.len() > MOST_ALTERNATIVES {
                break;
            }
        }
        if alternatives.len() * options_apart.len() > MOST_ALTERNATIVES {
            if let Some(first) = alternatives.first() {
                let first = first.clone();
                self.lose(&first, "anyOf", "it has too many variants to write out");
            }
            *is_one_only = false;
            return alternatives;
        }
        let mut products = Vec::new();
        for alternative in &alternatives {
            for option in &options_apart {
                let mut lost = Vec::new();
                let mut both = meet(alternative, option, &mut |key| lost.push(key.to_owned()));
                stand_at(&mut both, option);
                for key in SAID {
                    if let Some(value) = option.get(key) {
                        both.insert(key.to_owned(), value.clone());
                    }
                }
                for key in lost {
                    self.lose(option, &key, "two of it cannot be said of one value");
                }
                let is_possible = kind::stated(&both).is_none_or(|kinds| !kinds.is_empty());
                if is_possible {
                    products.push(both);
                }
            }
        }
        products
    }

    /// What a reference leads to; nothing where that is any value, since it leads nowhere or to itself too often.
    pub(super) fn follow(&mut self, members: &Map<String, Value>, reference: &str) -> Option<&'d Value> {
        let document = self.document;
        let Some(target) = document.find(reference) else {
            self.lose(members, "$ref", "it leads to no place in the schema, so any value is taken");
            return None;
        };
        let times = self.stack.iter().filter(|followed| *followed == reference).count();
        if times >= super::MOST_RECURSION {
            self.lose(members, "$ref", "the type holds itself: so deep down, any value is taken");
            return None;
        }
        self.stack.push(reference.to_owned());
        Some(target)
    }
}

/// Alternatives of objects, as one object that takes what any of them does. `None` where there are none.
///
/// Which properties go together cannot be said any more.
pub(super) fn one_object(alternatives: Vec<Map<String, Value>>) -> Option<Map<String, Value>> {
    let is_object =
        |schema: &Map<String, Value>| kind::stated(schema).is_none_or(|kinds| kinds.contains(&Kind::Object));
    let mut alternatives: Vec<_> = alternatives.into_iter().filter(is_object).collect();
    if alternatives.len() < 2 {
        return alternatives.pop();
    }
    let mut one = Map::new();
    stand_at(&mut one, &alternatives[0]);
    one.insert("type".into(), "object".into());
    let mut properties: Map<String, Value> = Map::new();
    for alternative in &alternatives {
        for name in alternative.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys) {
            if !properties.contains_key(name) {
                properties.insert(name.clone(), property_of_all(name, &alternatives));
            }
        }
    }
    // A pattern in one of them says something else of a name than in another.
    let is_closed = |schema: &Map<String, Value>| {
        schema.get("additionalProperties") == Some(&Value::Bool(false))
            && !schema.contains_key("patternProperties")
    };
    let are_closed = alternatives.iter().all(is_closed);
    let is_of_all = |name: &String| {
        alternatives
            .iter()
            .all(|other| other.get("properties").is_some_and(|properties| properties.get(name).is_some()))
    };
    let of_some: Vec<&String> = properties.keys().filter(|name| !is_of_all(name)).collect();
    one.insert(OF_SOME.into(), json!(of_some));
    one.insert("properties".into(), properties.into());
    let required = names(alternatives[0].get("required"));
    let required: Vec<&str> = required
        .into_iter()
        .filter(|name| alternatives.iter().all(|other| names(other.get("required")).contains(name)))
        .collect();
    one.insert("required".into(), required.into());
    if are_closed {
        one.insert("additionalProperties".into(), false.into());
    }
    Some(one)
}

/// What any of the objects takes under a name.
fn property_of_all(name: &str, alternatives: &[Map<String, Value>]) -> Value {
    let mut options: Vec<Value> = Vec::new();
    for alternative in alternatives {
        let own = alternative.get("properties").and_then(|properties| properties.get(name));
        let option = match (own, alternative.get("additionalProperties")) {
            (Some(own), _) => own.clone(),
            (None, _) if alternative.contains_key("patternProperties") => return Value::Bool(true),
            (None, None) => return Value::Bool(true),
            (None, Some(rest)) => rest.clone(),
        };
        if option == Value::Bool(true) {
            return option;
        }
        if option != Value::Bool(false) && !options.iter().any(|other| is_same(other, &option)) {
            options.push(option);
        }
    }
    if options.len() == 1 {
        return options.remove(0);
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

/// Whether two schemas say the same, wherever they stood.
fn is_same(first: &Value, second: &Value) -> bool {
    match (first, second) {
        (Value::Object(first), Value::Object(second)) => {
            let of = |schema: &Map<String, Value>| schema.keys().filter(|key| !is_place(key)).count();
            of(first) == of(second)
                && first
                    .iter()
                    .filter(|(key, _)| !is_place(key))
                    .all(|(key, value)| second.get(key).is_some_and(|other| is_same(value, other)))
        }
        (Value::Array(first), Value::Array(second)) => {
            first.len() == second.len()
                && first.iter().zip(second).all(|(first, second)| is_same(first, second))
        }
        _ => first == second,
    }
}

/// The strings that the options name, where they do nothing else: the tags of an enum.
fn all_values(options: &[Value]) -> Option<Value> {
    let mut all = Vec::new();
    for option in options {
        let members = option.as_object()?;
        let is_plain = members.keys().all(|key| {
            matches!(key.as_str(), "const" | "enum" | "type" | "title" | "description") || is_place(key)
        });
        for value in kind::values(members).filter(|_| is_plain)? {
            if !value.is_string() {
                return None;
            }
            if !all.contains(&value) {
                all.push(value);
            }
        }
    }
    Some(all.into())
}

/// Closes the alternatives to what none of them names, where the schema that they are of was closed so.
fn close(alternatives: &mut [Map<String, Value>], rest: &Value, is_one_only: bool) {
    // Of several that may fit at once, each is closed by what all of them name; only where one alone can fit, that one.
    let mut others: Vec<String> = Vec::new();
    if alternatives.len() > 1 && !is_one_only {
        if alternatives.iter().any(|alternative| alternative.contains_key("patternProperties")) {
            return;
        }
        for alternative in alternatives.iter() {
            others.extend(
                alternative
                    .get("properties")
                    .and_then(Value::as_object)
                    .into_iter()
                    .flat_map(Map::keys)
                    .cloned(),
            );
        }
    }
    for alternative in alternatives {
        if alternative.contains_key("additionalProperties") {
            continue;
        }
        // What looks into the value in other ways may name further properties.
        if ["dependentSchemas", "if", "then", "else"].iter().any(|key| alternative.contains_key(*key)) {
            continue;
        }
        alternative.insert("additionalProperties".into(), rest.clone());
        if let Some(properties) = alternative.entry("properties").or_insert_with(|| json!({})).as_object_mut()
        {
            for name in &others {
                properties.entry(name.clone()).or_insert(Value::Bool(true));
            }
        }
    }
}
