//! A schema in a few keywords: alternatives of one type each.

use super::flatten::Apart;
use super::kind::{self, Kind};
use super::null::nullable;
use super::profile::Writing;
use super::{Rewriter, words};
use serde_json::{Map, Value, json};

/// An alternative as it is written.
struct Written {
    schema: Map<String, Value>,
    sentences: Vec<String>,
}

/// Keywords that speak of values of one type, but those of lists and objects.
const OF_STRINGS: [&str; 4] = ["minLength", "maxLength", "pattern", "format"];
const OF_NUMBERS: [&str; 5] = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];
const OF_LISTS: [&str; 3] = ["minItems", "maxItems", "uniqueItems"];
const OF_LISTS_LOST: [&str; 2] = ["contains", "unevaluatedItems"];

impl Rewriter<'_> {
    /// A part of the schema; `None` where nothing fits it.
    pub(super) fn flat(&mut self, schema: &Value) -> Option<Value> {
        let written =
            if self.enter(schema) { self.flat_part(schema) } else { Some(self.anything(&Map::new())) };
        self.depth -= 1;
        written
    }

    fn flat_part(&mut self, schema: &Value) -> Option<Value> {
        let mark = self.stack.len();
        let Apart { said, alternatives, is_one_only } = self.apart(schema);
        let mut written = Vec::new();
        let mut takes_null = false;
        for alternative in &alternatives {
            self.flat_alternative(alternative, &mut written, &mut takes_null);
        }
        self.stack.truncate(mark);
        let mut one = one_of(written, takes_null)?;
        if is_one_only && one.get("anyOf").is_some_and(|options| !are_disjoint(options)) {
            self.lose(&said, "oneOf", "of several variants that fit it cannot be said that only one may");
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

    /// What takes any value, as far as the dialect has that.
    fn anything(&mut self, part: &Map<String, Value>) -> Value {
        if self.profile.is_strict {
            self.refuse(part, "type", "it takes values of any type, and a strict schema has to say which");
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
                self.lose(part, key, "this dialect does not say it");
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

    /// Of no type: everything that it says of some type, where the dialect can say that without.
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

    fn flat_values(
        &mut self,
        part: &Map<String, Value>,
        values: &[Value],
        into: &mut Vec<Written>,
        takes_null: &mut bool,
    ) {
        let Writing::Flat { has_any_enum, .. } = self.profile.writing else { return };
        *takes_null |= values.contains(&Value::Null);
        let scalars = [
            (Kind::String, true),
            (Kind::Integer, true),
            (Kind::Number, true),
            (Kind::Boolean, has_any_enum),
        ];
        for (kind, has_enum) in scalars {
            let own: Vec<&Value> = values.iter().filter(|value| Kind::of(value) == kind).collect();
            if own.is_empty() {
                continue;
            }
            let mut schema = Map::new();
            schema.insert("type".into(), kind.name().into());
            let is_all = kind == Kind::Boolean && own.len() == 2;
            let mut sentences = Vec::new();
            if is_all {
            } else if has_enum && self.fits_enum(&own) {
                schema.insert("enum".into(), json!(own));
            } else {
                sentences.extend(words::demand("enum", &json!(own)));
                self.lose(part, "enum", "this dialect does not take these values there, or so many");
            }
            into.push(Written { schema, sentences });
        }
        for value in values {
            if let Some(schema) = exactly(value)
                && let Some(Value::Object(schema)) = self.flat(&schema)
            {
                into.push(Written { schema, sentences: Vec::new() });
            }
        }
    }

    /// A value of one type.
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
        self.lose(part, key, "this dialect does not say it");
    }

    fn flat_items(&mut self, part: &Map<String, Value>, schema: &mut Map<String, Value>) {
        let Writing::Flat { has_places, .. } = self.profile.writing else { return };
        for key in OF_LISTS_LOST {
            if part.contains_key(key) {
                self.lose(part, key, "this dialect does not say it");
            }
        }
        let any = Value::Bool(true);
        let rest = part.get("items").unwrap_or(&any);
        let places = part.get("prefixItems").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let mut most = part.get("maxItems").and_then(Value::as_u64).unwrap_or(u64::MAX);
        let mut written: Vec<Value> = Vec::new();
        for place in places {
            match self.flat(place) {
                Some(place) => written.push(place),
                None => {
                    most = most.min(written.len() as u64);
                    break;
                }
            }
        }
        let has_rest = most > written.len() as u64;
        let rest = if !has_rest && !places.is_empty() {
            None
        } else if rest == &any {
            Some(self.anything(part))
        } else {
            self.flat(rest)
        };
        if rest.is_none() {
            // No more than these fit.
            schema.insert("maxItems".into(), most.min(written.len() as u64).into());
        }
        if written.is_empty() {
            schema.insert("items".into(), rest.unwrap_or_else(|| json!({"type": "null"})));
            return;
        }
        if has_places {
            schema.insert("prefixItems".into(), written.into());
            if let Some(rest) = rest {
                schema.insert("items".into(), rest);
            }
            return;
        }
        self.lose(part, "prefixItems", "this dialect does not say what stands at which place of a list");
        written.extend(rest);
        let options = written.into_iter().filter_map(|option| match option {
            Value::Object(schema) => Some(Written { schema, sentences: Vec::new() }),
            _ => None,
        });
        let items = one_of(options.collect(), false).unwrap_or_default();
        schema.insert("items".into(), items.into());
    }

    /// Whether a strict enum may have so many values.
    fn fits_enum(&self, values: &[&Value]) -> bool {
        const MOST_VALUES: usize = 1000;
        const MANY: usize = 250;
        const MOST_CHARACTERS: usize = 15_000;
        let characters =
            || -> usize { values.iter().filter_map(|value| Some(value.as_str()?.chars().count())).sum() };
        !self.profile.is_strict
            || values.len() <= MANY
            || (values.len() <= MOST_VALUES && characters() <= MOST_CHARACTERS)
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "only compared with another bound, either of which may be written"
)]
fn as_float(bound: i64) -> f64 {
    bound as f64
}

/// A schema that only an object or a list fits that is exactly this one.
fn exactly(value: &Value) -> Option<Value> {
    let constant = |value: &Value| json!({ "const": value });
    match value {
        Value::Object(members) => {
            let properties: Map<String, Value> =
                members.iter().map(|(name, member)| (name.clone(), constant(member))).collect();
            let required: Vec<&String> = members.keys().collect();
            Some(
                json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false}),
            )
        }
        Value::Array(items) => {
            let places: Vec<Value> = items.iter().map(constant).collect();
            let count = items.len();
            Some(
                json!({"type": "array", "prefixItems": places, "items": false, "minItems": count, "maxItems": count}),
            )
        }
        _ => None,
    }
}

/// Alternatives as one schema; `None` where there are none.
fn one_of(written: Vec<Written>, takes_null: bool) -> Option<Map<String, Value>> {
    let mut options: Vec<Value> = Vec::new();
    for Written { mut schema, sentences } in written {
        if let Some(Value::Array(inner)) =
            schema.get("anyOf").filter(|_| schema.len() == 1 && sentences.is_empty())
        {
            let inner: Vec<Value> =
                inner.iter().filter(|option| !options.contains(option)).cloned().collect();
            options.extend(inner);
            continue;
        }
        let is_anything = schema.is_empty();
        words::add(&mut schema, &sentences);
        let schema = Value::Object(schema);
        if is_anything && sentences.is_empty() {
            return schema.as_object().cloned();
        }
        if !options.contains(&schema) {
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
        // Not every dialect has `null` among the values of an enum.
        one if is_enum_of_strings(&one) => json!({ "anyOf": [one, {"type": "null"}] }),
        one => nullable(one),
    };
    one.as_object().cloned()
}

/// Whether a pattern has nothing but what every engine knows: no looking around, no going back.
pub(super) fn is_plain_pattern(pattern: &str) -> bool {
    let mut escaped = false;
    let mut rest = pattern.chars().peekable();
    while let Some(c) = rest.next() {
        match (escaped, c) {
            (true, '1'..='9' | 'k' | 'p' | 'P' | 'b' | 'B') => return false,
            (true, _) => escaped = false,
            (false, '\\') => escaped = true,
            (false, '(') if rest.peek() == Some(&'?') => {
                let mut ahead = rest.clone();
                ahead.next();
                if ahead.next() != Some(':') {
                    return false;
                }
            }
            _ => {}
        }
    }
    !escaped
}

/// Whether no value can fit two of the written options: they are of different types, or differ in a constant that all of them
/// require.
pub(super) fn are_disjoint(options: &Value) -> bool {
    let Some(options) = options.as_array() else { return false };
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
    let required = super::document::names(first.get("required"));
    let other = super::document::names(second.get("required"));
    required.into_iter().filter(|name| other.contains(name)).any(|name| {
        matches!((of(first, name), of(second, name)), (Some(first), Some(second)) if differ_in_values(&first, &second))
    })
}
