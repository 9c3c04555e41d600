//! Schemas at random, and values that may fit them. The same numbers make the same schemas.

use serde_json::{Map, Value, json};

/// A generator of numbers (`SplitMix64`).
#[derive(Debug, Clone)]
pub(crate) struct Random(u64);

impl Random {
    /// One that begins here.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `limit`.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// True once in so many times.
    pub(crate) fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }

    fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[usize::try_from(self.below(list.len() as u64)).unwrap_or(0)]
    }
}

const NAMES: [&str; 9] = ["a", "b", "c", "kind", "next", "a.b", "two words", "é", "$ref"];
/// The last is always an object: what variants have in common.
const DEFINITIONS: [&str; 4] = ["one", "two", "three", "base"];
const TEXTS: [&str; 6] = ["", "a", "bb", "aab", "2024-01-01", "é"];

/// The parts of the schemas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flavour {
    /// Everything that JSON Schema has.
    Any,
    /// Schemas that strict dialects can mostly express: closed objects of typed values.
    Closed,
}

/// A schema of arguments.
pub(crate) fn schema(random: &mut Random, flavour: Flavour) -> Value {
    let mut maker = Maker { random, flavour, uses_definitions: false };
    let mut root = maker.object(3);
    if flavour == Flavour::Any && maker.random.once_in(3) {
        maker.put_together(&mut root, 2);
    }
    if maker.uses_definitions {
        let mut definitions: Map<String, Value> =
            DEFINITIONS.iter().map(|name| ((*name).to_owned(), maker.part(2))).collect();
        definitions.insert("base".into(), maker.object(1).into());
        definitions.insert("far off".into(), maker.object(0).into());
        root.insert("$defs".into(), definitions.into());
    }
    root.insert("$schema".into(), "https://json-schema.org/draft/2020-12/schema".into());
    root.into()
}

struct Maker<'a> {
    random: &'a mut Random,
    flavour: Flavour,
    uses_definitions: bool,
}

impl Maker<'_> {
    fn part(&mut self, depth: u32) -> Value {
        let is_any = self.flavour == Flavour::Any;
        if is_any && self.random.once_in(14) {
            return (*self.random.pick(&[json!(true), json!(false), json!({})])).clone();
        }
        let mut part = match self.random.below(if depth == 0 { 6 } else { 10 }) {
            0 | 4 => self.string(),
            1 => self.number(),
            2 => Map::from_iter([("type".into(), "boolean".into())]),
            3 => self.values(),
            5 => {
                self.uses_definitions = true;
                let name = *self.random.pick(&DEFINITIONS);
                let mut part = Map::new();
                part.insert("$ref".into(), format!("#/$defs/{name}").into());
                part
            }
            6 => self.list(depth - 1),
            7 => self.union(depth - 1),
            _ => self.object(depth - 1),
        };
        if is_any {
            self.extras(&mut part, depth);
        }
        for (key, value) in [
            ("title", json!("Title")),
            ("description", json!("What it is.")),
            ("default", json!("a")),
            ("examples", json!(["a"])),
        ] {
            if self.random.once_in(6) {
                part.insert(key.into(), value);
            }
        }
        part.into()
    }

    /// Rare keywords.
    fn extras(&mut self, part: &mut Map<String, Value>, depth: u32) {
        let depth = depth.saturating_sub(1);
        match self.random.below(24) {
            0 => drop(part.insert("not".into(), self.part(0))),
            1 => {
                part.insert("if".into(), self.part(depth));
                part.insert("then".into(), self.part(depth));
                part.insert("else".into(), self.part(depth));
            }
            2 => drop(part.insert("allOf".into(), json!([self.part(depth), self.part(depth)]))),
            3 => drop(part.insert("nonsense".into(), json!({"type": 5}))),
            4 => drop(part.remove("type")),
            5 => {
                if let Some(kind) = part.get("type").cloned().filter(Value::is_string) {
                    part.insert("type".into(), json!([kind, "null", "integer"]));
                }
            }
            6 => drop(part.insert("anyOf".into(), json!([self.part(depth), {"type": "null"}]))),
            7 if part.contains_key("properties") => self.put_together(part, depth.max(1)),
            _ => {}
        }
    }

    /// Has an object be put together of others, and mostly closed to what none of them looks at.
    fn put_together(&mut self, part: &mut Map<String, Value>, depth: u32) {
        for _ in 0..=self.random.below(2) {
            let key = *self.random.pick(&["anyOf", "oneOf", "allOf"]);
            let count = self.members();
            let parts = (0..if key == "allOf" { count.min(4) } else { count }).map(|_| {
                let mut member = if count > 4 { self.object(0) } else { self.object(depth - 1) };
                if self.random.once_in(4) {
                    member.insert("$ref".into(), self.base());
                }
                Value::Object(member)
            });
            let parts: Vec<Value> = parts.collect();
            part.insert(key.into(), parts.into());
        }
        if self.random.once_in(4) {
            // Spelt in a way that no dialect's writer follows.
            let base = self.base();
            let reference = if self.random.once_in(4) { "#/$defs/far%20off".into() } else { base };
            part.insert("$ref".into(), reference);
        }
        if !self.random.once_in(3) {
            part.remove("additionalProperties");
            self.close(part);
        }
    }

    /// How many members a union has.
    fn members(&mut self) -> u64 {
        match self.random.below(48) {
            0 => 65,
            1..10 => 4,
            _ => 1 + self.random.below(3),
        }
    }

    fn base(&mut self) -> Value {
        self.uses_definitions = true;
        "#/$defs/base".into()
    }

    fn close(&mut self, part: &mut Map<String, Value>) {
        let rest = if self.random.once_in(3) { self.part(0) } else { false.into() };
        part.insert("unevaluatedProperties".into(), rest);
    }

    fn string(&mut self) -> Map<String, Value> {
        let mut part = Map::new();
        part.insert("type".into(), "string".into());
        match self.random.below(8) {
            0 => drop(part.insert("minLength".into(), self.random.below(3).into())),
            1 => drop(part.insert("maxLength".into(), self.random.below(4).into())),
            2 => drop(
                part.insert("pattern".into(), (*self.random.pick(&["^a", "b$", "^a(?!b)", "[0-9]+"])).into()),
            ),
            3 => drop(
                part.insert(
                    "format".into(),
                    (*self.random.pick(&["date", "date-time", "email", "uri", "uuid", "ipv4", "unheard-of"]))
                        .into(),
                ),
            ),
            _ => {}
        }
        part
    }

    fn number(&mut self) -> Map<String, Value> {
        let mut part = Map::new();
        part.insert("type".into(), (*self.random.pick(&["integer", "number"])).into());
        match self.random.below(8) {
            0 => drop(part.insert("minimum".into(), self.random.below(3).into())),
            1 => drop(part.insert("exclusiveMinimum".into(), self.random.below(3).into())),
            2 => drop(part.insert("maximum".into(), self.random.below(9).into())),
            3 => drop(part.insert("exclusiveMaximum".into(), json!(4.5))),
            4 => drop(part.insert("multipleOf".into(), 2.into())),
            _ => {}
        }
        part
    }

    fn values(&mut self) -> Map<String, Value> {
        let mut part = Map::new();
        match self.random.below(6) {
            0 => drop(part.insert("const".into(), (*self.random.pick(&TEXTS)).into())),
            4 => {
                let constants = [json!(1), json!(2.5), json!(true), json!(null), json!({"a": 1})];
                part.insert("const".into(), self.random.pick(&constants).clone());
            }
            1 => drop(part.insert("enum".into(), json!([1, 2, 5]))),
            2 => drop(part.insert("enum".into(), json!(["a", null, 1, true]))),
            3 => drop(part.insert("enum".into(), json!([{"a": 1}, ["a", 1], [], "a"]))),
            _ => {
                part.insert("type".into(), "string".into());
                part.insert("enum".into(), json!(["a", "bb"]));
            }
        }
        part
    }

    fn list(&mut self, depth: u32) -> Map<String, Value> {
        let mut part = Map::new();
        part.insert("type".into(), "array".into());
        if self.flavour == Flavour::Closed || !self.random.once_in(5) {
            part.insert("items".into(), self.part(depth));
        }
        match self.random.below(8) {
            0 => drop(part.insert("minItems".into(), self.random.below(3).into())),
            1 => drop(part.insert("maxItems".into(), self.random.below(4).into())),
            2 => drop(part.insert("uniqueItems".into(), true.into())),
            3 => drop(part.insert("prefixItems".into(), json!([self.part(depth), self.part(depth)]))),
            4 if self.flavour == Flavour::Any => {
                part.insert("contains".into(), self.part(0));
                part.insert("maxContains".into(), self.random.below(3).into());
            }
            5 if self.flavour == Flavour::Any => drop(part.insert("items".into(), false.into())),
            _ => {}
        }
        part
    }

    fn union(&mut self, depth: u32) -> Map<String, Value> {
        let key = *self.random.pick(&["anyOf", "oneOf"]);
        let options: Vec<Value> = if self.random.once_in(3) {
            ["x", "y"]
                .iter()
                .map(|tag| {
                    let mut object = self.object(depth);
                    object["properties"]["kind"] = json!({ "const": tag });
                    object.insert("required".into(), json!(["kind"]));
                    Value::Object(object)
                })
                .collect()
        } else if self.random.once_in(4) {
            // Each adds something to what all have in common.
            let base = self.base();
            let mut member = |_| {
                let mut object = self.object(0);
                object.insert("$ref".into(), base.clone());
                object.remove("additionalProperties");
                Value::Object(object)
            };
            (0..4).map(&mut member).collect()
        } else {
            let count = self.members();
            let depth = if count > 4 { 0 } else { depth };
            (0..count).map(|_| self.part(depth)).collect()
        };
        Map::from_iter([(key.to_owned(), Value::Array(options))])
    }

    fn object(&mut self, depth: u32) -> Map<String, Value> {
        let mut properties = Map::new();
        for _ in 0..self.random.below(4) {
            let name = *self.random.pick(&NAMES);
            properties.insert(name.to_owned(), self.part(depth));
        }
        let required: Vec<&String> = properties.keys().filter(|_| self.random.once_in(2)).collect();
        let mut part = Map::new();
        part.insert("type".into(), "object".into());
        if !required.is_empty() {
            part.insert("required".into(), json!(required));
        }
        part.insert("properties".into(), properties.into());
        if self.flavour == Flavour::Closed {
            part.insert("additionalProperties".into(), false.into());
            return part;
        }
        match self.random.below(10) {
            0..4 => drop(part.insert("additionalProperties".into(), false.into())),
            4 => drop(part.insert("additionalProperties".into(), self.part(depth.saturating_sub(1)))),
            5 => {
                drop(
                    part.insert("patternProperties".into(), json!({"^a": self.part(0), "b$": self.part(0)})),
                );
            }
            6 => self.close(&mut part),
            7 => {
                let pattern = *self.random.pick(&["^(?!a)", "^.(?=b)", "(?<=a)b", "^(?:a|b)", "^z"]);
                part.insert("patternProperties".into(), json!({ pattern: self.part(0) }));
                match self.random.below(3) {
                    0 => drop(part.insert("additionalProperties".into(), false.into())),
                    1 => self.close(&mut part),
                    _ => {}
                }
            }
            _ => {}
        }
        match self.random.below(16) {
            0 => drop(part.insert("minProperties".into(), 1.into())),
            1 => drop(part.insert("maxProperties".into(), 2.into())),
            2 => drop(part.insert("propertyNames".into(), json!({"maxLength": 4}))),
            3 => drop(part.insert("dependentRequired".into(), json!({"a": ["b"]}))),
            4 => drop(part.insert("dependentSchemas".into(), json!({"a": {"required": ["c"]}}))),
            _ => {}
        }
        part
    }
}

/// A value that may well fit a schema, if `root` is its document.
pub(crate) fn value(random: &mut Random, schema: &Value, root: &Value, depth: u32) -> Value {
    let Some(part) = schema.as_object().filter(|_| depth < 12) else { return anything(random) };
    if random.once_in(40) {
        return anything(random);
    }
    let mut found = None;
    if let Some(target) = part.get("$ref").and_then(Value::as_str) {
        let target = target.strip_prefix('#').and_then(|pointer| root.pointer(&pointer.replace("%20", " ")));
        found = target.map(|target| value(random, target, root, depth + 1));
        if part.len() == 1 {
            return found.unwrap_or_else(|| anything(random));
        }
    }
    if let Some(constant) = part.get("const") {
        return constant.clone();
    }
    if let Some(values) = part.get("enum").and_then(Value::as_array) {
        return random.pick(values).clone();
    }
    for key in ["anyOf", "oneOf", "allOf"] {
        if let Some(options) = part.get(key).and_then(Value::as_array).filter(|options| !options.is_empty()) {
            for option in
                if key == "allOf" { options.as_slice() } else { std::slice::from_ref(random.pick(options)) }
            {
                found = Some(together(found, value(random, option, root, depth + 1)));
            }
        }
    }
    let kind = match part.get("type") {
        Some(Value::String(kind)) => kind.clone(),
        Some(Value::Array(kinds)) => random.pick(kinds).as_str().unwrap_or_default().to_owned(),
        _ if part.contains_key("properties") => "object".to_owned(),
        _ if part.contains_key("items") => "array".to_owned(),
        _ => return found.unwrap_or_else(|| anything(random)),
    };
    let own = match kind.as_str() {
        "string" => json!(random.pick(&TEXTS)),
        "integer" => json!(random.below(7)),
        "number" => random.pick(&[json!(1), json!(2.5), json!(4.0), json!(6)]).clone(),
        "boolean" => json!(random.once_in(2)),
        "null" => Value::Null,
        "array" => items(random, part, root, depth),
        _ => members(random, part, root, depth),
    };
    together(found, own)
}

fn items(random: &mut Random, part: &Map<String, Value>, root: &Value, depth: u32) -> Value {
    let places = part.get("prefixItems").and_then(Value::as_array);
    (0..random.below(4))
        .map(|index| {
            let place = places.and_then(|places| places.get(usize::try_from(index).unwrap_or(0)));
            match place.or_else(|| part.get("items")) {
                Some(each) => value(random, each, root, depth + 1),
                None => anything(random),
            }
        })
        .collect()
}

fn members(random: &mut Random, part: &Map<String, Value>, root: &Value, depth: u32) -> Value {
    let mut made = Map::new();
    let required = part.get("required").and_then(Value::as_array);
    for (name, property) in part.get("properties").and_then(Value::as_object).into_iter().flatten() {
        let is_required = required.is_some_and(|required| required.iter().any(|other| other == name));
        if is_required || random.once_in(2) {
            made.insert(name.clone(), value(random, property, root, depth + 1));
        }
    }
    if random.once_in(3) {
        let name = *random.pick(&["a", "ab", "bb", "zz", "c"]);
        let pattern =
            part.get("patternProperties").and_then(|patterns| patterns.as_object()?.values().next());
        let rest = ["additionalProperties", "unevaluatedProperties"].iter().find_map(|key| part.get(*key));
        let rest = pattern.or(rest).unwrap_or(&Value::Bool(true));
        made.insert(name.to_owned(), value(random, rest, root, depth + 1));
    }
    made.into()
}

/// Objects become one; else the later counts.
fn together(first: Option<Value>, second: Value) -> Value {
    match (first, second) {
        (Some(Value::Object(mut first)), Value::Object(second)) => {
            first.extend(second);
            first.into()
        }
        (_, second) => second,
    }
}

fn anything(random: &mut Random) -> Value {
    random
        .pick(&[
            json!(null),
            json!(true),
            json!(1),
            json!(2.5),
            json!("a"),
            json!([]),
            json!(["a", 1]),
            json!({}),
            json!({"a": 1}),
        ])
        .clone()
}
