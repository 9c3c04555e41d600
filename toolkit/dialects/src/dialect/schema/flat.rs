//! Writes a schema in the flat form: alternatives of one type each.

use super::disjoint::are_disjoint;
use super::flatten::{Apart, MAX_ALTERNATIVES};
use super::kind::{self, Kind};
use super::null::nullable;
use super::pattern::is_plain_pattern;
use super::{Rewriter, words};
use serde_json::{Map, Value, json};
use std::collections::HashSet;

/// A written alternative.
pub(super) struct Written {
    pub(super) schema: Map<String, Value>,
    pub(super) sentences: Vec<String>,
}

/// Keywords about strings.
const OF_STRINGS: [&str; 4] = ["minLength", "maxLength", "pattern", "format"];
const OF_NUMBERS: [&str; 5] = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
const OF_LISTS: [&str; 3] = ["minItems", "maxItems", "uniqueItems"];

impl Rewriter<'_> {
    /// Writes a part of the schema; returns `None` if no value matches it.
    pub(super) fn flat(&mut self, schema: &Value) -> Option<Value> {
        let written =
            if self.enter(schema) { self.flat_part(schema) } else { Some(self.anything(&Map::new())) };
        self.depth -= 1;
        written
    }

    fn flat_part(&mut self, schema: &Value) -> Option<Value> {
        let Apart { said, alternatives, is_one_only, .. } = self.apart(schema, MAX_ALTERNATIVES);
        let mut written = Vec::new();
        let mut takes_null = false;
        for alternative in &alternatives {
            self.followed.add(&alternative.trail);
            self.flat_alternative(&alternative.members, &mut written, &mut takes_null);
            self.followed.remove(&alternative.trail);
        }
        let mut one = one_of(written, takes_null)?;
        if is_one_only && one.get("anyOf").is_some_and(|options| !are_disjoint(options)) {
            self.lose(&said, "oneOf", "the dialect cannot require that exactly one variant matches");
        }
        if let Some(text) = said.get("description") {
            let own = one.get("description").and_then(Value::as_str).unwrap_or_default();
            let text = text.as_str().unwrap_or_default();
            let sentences: Vec<String> =
                Some(own.to_owned()).filter(|own| !own.is_empty()).into_iter().collect();
            one.shift_remove("description");
            one.shift_insert(0, "description".into(), text.into());
            words::add(&mut one, &sentences);
        }
        let notes: Vec<String> =
            ["default", "examples"].iter().filter_map(|key| words::demand(key, said.get(*key)?)).collect();
        words::add(&mut one, &notes);
        Some(one.into())
    }

    /// Returns a schema that accepts any value, as far as the dialect supports that.
    pub(super) fn anything(&mut self, part: &Map<String, Value>) -> Value {
        if self.profile.is_strict {
            self.refuse(
                part,
                "type",
                "it accepts values of any type, and a strict schema must name the type",
            );
        }
        json!({})
    }

    fn flat_alternative(
        &mut self,
        part: &Map<String, Value>,
        into: &mut Vec<Written>,
        takes_null: &mut bool,
    ) {
        let texts = |part: &Map<String, Value>| {
            let mut sentences = Vec::new();
            for key in ["default", "examples"] {
                sentences.extend(part.get(key).and_then(|value| words::demand(key, value)));
            }
            sentences
        };
        for key in ["not", "if"] {
            if part.contains_key(key) {
                self.lose(part, key, "this dialect does not support it");
            }
        }
        let start = into.len();
        if let Some(values) = kind::values(part) {
            self.flat_values(part, &values, into, takes_null);
        } else {
            let kinds = kind::stated(part);
            if kinds.is_none() {
                self.flat_untyped(part, into);
            }
            for kind in kinds.into_iter().flatten() {
                if kind == Kind::Null {
                    *takes_null = true;
                } else if let Some(written) = self.flat_kind(part, kind) {
                    into.push(written);
                }
            }
        }
        for written in &mut into[start..] {
            if let Some(text) =
                part.get("description").filter(|_| !written.schema.contains_key("description"))
            {
                written.schema.shift_insert(0, "description".into(), text.clone());
            }
            written.sentences.extend(texts(part));
        }
    }

    /// Writes a part without a type: its keywords for several types, if the dialect accepts them without
    /// a type.
    fn flat_untyped(&mut self, part: &Map<String, Value>, into: &mut Vec<Written>) {
        let mut schema = Map::new();
        let mut sentences = Vec::new();
        self.anything(part);
        if !self.profile.is_strict {
            for (kind, keywords) in [
                (Kind::String, &OF_STRINGS[..]),
                (Kind::Number, &OF_NUMBERS),
                (Kind::Array, &["items", "prefixItems", "minItems", "maxItems", "uniqueItems"]),
                (Kind::Object, &["properties", "required", "additionalProperties", "patternProperties"]),
            ] {
                if keywords.iter().any(|key| part.contains_key(*key))
                    && let Some(written) = self.flat_kind(part, kind)
                {
                    schema.extend(written.schema.into_iter().filter(|(key, _)| key != "type"));
                    sentences.extend(written.sentences);
                }
            }
        }
        into.push(Written { schema, sentences });
    }

    /// Writes the part for values of one type.
    fn flat_kind(&mut self, part: &Map<String, Value>, kind: Kind) -> Option<Written> {
        let mut schema = Map::new();
        schema.insert("type".into(), kind.name().into());
        let mut sentences = Vec::new();
        let keywords: &[&str] = match kind {
            Kind::String => &OF_STRINGS,
            Kind::Integer | Kind::Number => &OF_NUMBERS,
            Kind::Array => &OF_LISTS,
            Kind::Boolean | Kind::Null => &[],
            Kind::Object => {
                let Value::Object(schema) = self.flat_object(part, &mut sentences) else { return None };
                return Some(Written { schema, sentences });
            }
        };
        for key in keywords {
            if let Some(value) = part.get(*key) {
                self.flat_keyword(part, kind, key, value, &mut schema, &mut sentences);
            }
        }
        if kind == Kind::Array {
            self.flat_items(part, &mut schema);
        }
        Some(Written { schema, sentences })
    }

    fn flat_keyword(
        &mut self,
        part: &Map<String, Value>,
        kind: Kind,
        key: &str,
        value: &Value,
        schema: &mut Map<String, Value>,
        sentences: &mut Vec<String>,
    ) {
        let is_kept = match key {
            "format" => {
                let format = value.as_str().unwrap_or_default();
                self.profile.formats.is_none_or(|known| known.contains(&format))
            }
            "pattern" => self.profile.keeps.contains(&key) && value.as_str().is_some_and(is_plain_pattern),
            _ => self.profile.keeps.contains(&key),
        };
        if is_kept {
            schema.insert(key.to_owned(), value.clone());
            return;
        }
        if matches!((key, value), ("minLength" | "minItems", Value::Number(least)) if least.as_u64() == Some(0))
            || (key == "uniqueItems" && value != &Value::Bool(true))
        {
            return;
        }
        let inclusive = match key {
            "exclusiveMinimum" => Some(("minimum", 1)),
            "exclusiveMaximum" => Some(("maximum", -1)),
            _ => None,
        };
        if let Some((inclusive, step)) = inclusive
            && self.profile.keeps.contains(&inclusive)
        {
            let next = value.as_i64().and_then(|bound| bound.checked_add(step));
            if let (Kind::Integer, Some(next)) = (kind, next) {
                let own = schema.get(inclusive).and_then(Value::as_f64);
                let is_narrower = own
                    .is_some_and(|own| if step > 0 { own >= as_float(next) } else { own <= as_float(next) });
                if !is_narrower {
                    schema.insert(inclusive.to_owned(), next.into());
                }
                return;
            }
            schema.entry(inclusive).or_insert_with(|| value.clone());
        }
        sentences.extend(words::demand(key, value));
        self.lose(part, key, "this dialect does not support it");
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "only compared with another bound, either of which may be written"
)]
fn as_float(bound: i64) -> f64 {
    bound as f64
}

/// Combines alternatives into one schema; returns `None` if there are none.
pub(super) fn one_of(written: Vec<Written>, takes_null: bool) -> Option<Map<String, Value>> {
    let mut options: Vec<Value> = Vec::new();
    // A single alternative is not compared, because comparing needs its text, which is as long as
    // everything within it.
    let is_alone = written.len() == 1;
    let mut seen = HashSet::new();
    for Written { mut schema, sentences } in written {
        let is_union_alone = schema.len() == 1 && sentences.is_empty();
        if let Some(Value::Array(inner)) = schema.get_mut("anyOf").filter(|_| is_union_alone) {
            let inner = std::mem::take(inner).into_iter();
            options.extend(inner.filter(|option| is_alone || seen.insert(option.to_string())));
            continue;
        }
        let is_anything = schema.is_empty();
        words::add(&mut schema, &sentences);
        let schema = Value::Object(schema);
        if is_anything && sentences.is_empty() {
            return Some(Map::new());
        }
        if is_alone || seen.insert(schema.to_string()) {
            options.push(schema);
        }
    }
    let one = match options.len() {
        0 if takes_null => json!({"type": "null"}),
        0 => return None,
        1 => options.remove(0),
        _ => json!({ "anyOf": options }),
    };
    let is_enum_of_strings = |schema: &Value| schema.get("enum").is_some();
    let one = match one {
        one if !takes_null => one,
        // Not every dialect accepts `null` among the values of an enum.
        one if is_enum_of_strings(&one) => json!({ "anyOf": [one, {"type": "null"}] }),
        one => nullable(one),
    };
    match one {
        Value::Object(one) => Some(one),
        _ => None,
    }
}
