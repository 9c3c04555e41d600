//! Random schemas as types have them, and random values that fit them or nearly do.

use crate::schema::resolve;
use serde_json::{Map, Value, json};

const NAMES: [&str; 8] = ["path", "max_lines", "mode", "name", "a", "b", "query", "depth"];
const WORDS: [&str; 8] = ["", "a", "fast", "slow", "Fast", "one", "two", "null"];

/// A generator of pseudo-random numbers.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a number below `limit`.
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((mixed ^ (mixed >> 31)) % limit as u64).expect("it is of this kind")
    }

    fn is_one_of(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }

    fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

/// Returns a schema of arguments.
pub(super) fn schema(random: &mut Random) -> Value {
    let mut root = match random.below(6) {
        0 => tagged(random, 1),
        1 => flattened(random, 1),
        _ => object(random, 0),
    };
    if root.get("type").is_none() {
        root["type"] = json!("object");
    }
    root["$defs"] = json!({"Leaf": leaf(random), "Node": recursive(random), "Kind": tagged(random, 2)});
    root
}

fn recursive(random: &mut Random) -> Value {
    json!({"type": "object", "properties": {
        "value": leaf(random),
        "next": {"anyOf": [{"$ref": "#/$defs/Node"}, {"type": "null"}]},
        "all": {"type": "array", "items": {"$ref": "#/$defs/Node"}},
    }, "required": ["value"]})
}

fn leaf(random: &mut Random) -> Value {
    let bound = |random: &mut Random| json!(*random.pick(&[-3_i64, 0, 1, 5, 255, i64::MAX]));
    let mut leaf = match random.below(11) {
        0 => json!({"type": "boolean"}),
        1 => json!({"type": "integer", "minimum": 0, "maximum": *random.pick(&[1_u64, 3, 255, u64::MAX])}),
        2 => json!({"type": "integer", "exclusiveMaximum": bound(random)}),
        3 => json!({"type": "number", "minimum": -1.5, "maximum": 2.5}),
        4 => json!({"type": "string"}),
        5 => json!({"type": "string", "minLength": random.below(3), "maxLength": 3}),
        6 => {
            json!({"type": "string", "pattern": *random.pick(&["^[a-z]+$", "^f", "^(one|two)$", r"^(?=.*a).+$"])})
        }
        7 => json!({"type": "string", "enum": WORDS[1..2 + random.below(5)]}),
        8 => json!({"type": ["integer", "null"]}),
        9 => json!({"oneOf": [{"const": "one", "description": "The first."}, {"const": "two"}]}),
        _ => json!({}),
    };
    if random.is_one_of(8) {
        leaf["x-toolkit-secret"] = json!(true);
    }
    if random.is_one_of(4) {
        leaf["description"] = json!("What it is.");
    }
    leaf
}

fn part(random: &mut Random, depth: usize) -> Value {
    if depth > 3 {
        return leaf(random);
    }
    let inner = |random: &mut Random| part(random, depth + 1);
    match random.below(22) {
        0 => json!({"type": "array", "items": inner(random)}),
        1 => json!({"type": "array", "items": inner(random), "minItems": 1, "maxItems": 2}),
        2 => json!({"type": "array", "items": leaf(random), "uniqueItems": true}),
        3 => {
            json!({"type": "array", "prefixItems": [inner(random), leaf(random)], "minItems": 2, "maxItems": 2, "items": false})
        }
        4 => json!({"type": "object", "additionalProperties": inner(random)}),
        5 => {
            json!({"type": "object", "patternProperties": {r"^-?\d+$": inner(random)}, "additionalProperties": false})
        }
        6 | 7 => object(random, depth + 1),
        8 => tagged(random, depth + 1),
        9 => external(random, depth + 1),
        10 => json!({"anyOf": [inner(random), inner(random)]}),
        11 => json!({"anyOf": [inner(random), {"type": "null"}]}),
        12 => flattened(random, depth + 1),
        13 => json!({"$ref": *random.pick(&["#/$defs/Leaf", "#/$defs/Node", "#/$defs/Kind"])}),
        14 => json!({"allOf": [inner(random), object(random, depth + 1)]}),
        _ => leaf(random),
    }
}

fn object(random: &mut Random, depth: usize) -> Value {
    let mut properties = Map::new();
    for _ in 0..random.below(5) {
        properties.insert((*random.pick(&NAMES)).to_owned(), part(random, depth + 1));
    }
    if random.is_one_of(12) {
        properties.extend((0..17).map(|n| (format!("n{n}"), leaf(random))));
    }
    let required: Vec<String> = properties.keys().filter(|_| random.is_one_of(2)).cloned().collect();
    let mut object = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        object["required"] = json!(required);
    }
    if !random.is_one_of(3) {
        object["additionalProperties"] = json!(false);
    }
    object
}

/// Returns an enum whose variants share a tag.
fn tagged(random: &mut Random, depth: usize) -> Value {
    let count = 1 + random.below(3);
    let options: Vec<Value> = ["one", "two", "three"][..count]
        .iter()
        .map(|name| {
            let mut option = object(random, depth + 1);
            option["properties"]["kind"] = json!({"type": "string", "const": name});
            let required = option.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
            option["required"] = required.into_iter().chain([json!("kind")]).collect();
            option
        })
        .collect();
    json!({ "oneOf": options })
}

/// Returns an enum whose variants are named by their only property.
fn external(random: &mut Random, depth: usize) -> Value {
    json!({"oneOf": [
        {"type": "string", "enum": ["none", "all"]},
        {"type": "object", "properties": {"some": part(random, depth + 1)}, "required": ["some"], "additionalProperties": false},
    ]})
}

/// Returns an object with a flattened enum, which may be optional.
fn flattened(random: &mut Random, depth: usize) -> Value {
    let mut object = object(random, depth);
    let members = object.as_object_mut().expect("it is of this kind");
    members.shift_remove("additionalProperties");
    let mut choice = tagged(random, depth);
    for option in choice["oneOf"].as_array_mut().expect("it is of this kind") {
        option.as_object_mut().expect("it is of this kind").shift_remove("additionalProperties");
    }
    if random.is_one_of(2) {
        members.insert("anyOf".into(), json!([choice, {}]));
    } else {
        members.insert("oneOf".into(), choice["oneOf"].take());
    }
    members.insert("unevaluatedProperties".into(), false.into());
    object
}

/// Returns a value that mostly fits a schema.
pub(super) fn value_of(schema: &Value, root: &Value, random: &mut Random, depth: usize) -> Value {
    let schema = resolve(schema, root);
    if depth > 12 {
        return Value::Null;
    }
    if let Some(value) = schema.get("const") {
        return value.clone();
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array).filter(|values| !values.is_empty()) {
        return random.pick(values).clone();
    }
    let mut value = own_value(schema, root, random, depth);
    for key in ["oneOf", "anyOf", "allOf"] {
        let Some(options) = schema.get(key).and_then(Value::as_array) else { continue };
        let chosen =
            if key == "allOf" { options.as_slice() } else { std::slice::from_ref(random.pick(options)) };
        for option in chosen {
            match (&mut value, value_of(option, root, random, depth + 1)) {
                (Value::Object(members), Value::Object(further)) => members.extend(further),
                (value, other) if schema.get("type").is_none() => *value = other,
                _ => {}
            }
        }
    }
    value
}

fn own_value(schema: &Value, root: &Value, random: &mut Random, depth: usize) -> Value {
    let kind = match schema.get("type") {
        Some(Value::Array(kinds)) => random.pick(kinds).as_str().unwrap_or_default().to_owned(),
        Some(kind) => kind.as_str().unwrap_or_default().to_owned(),
        None => return random_value(random),
    };
    match kind.as_str() {
        "boolean" => json!(random.is_one_of(2)),
        "integer" => json!(random.below(4)),
        "number" => json!(*random.pick(&[0.5, 1.0, -1.5, 2.25])),
        "string" => json!(*random.pick(&WORDS)),
        "array" => {
            let places = schema.get("prefixItems").and_then(Value::as_array);
            let each = schema.get("items");
            let count = places.map_or_else(|| random.below(3), Vec::len);
            let schema = |place: usize| places.and_then(|places| places.get(place)).or(each);
            (0..count).filter_map(|place| Some(value_of(schema(place)?, root, random, depth + 1))).collect()
        }
        "object" => {
            let mut members = Map::new();
            let required = schema.get("required").and_then(Value::as_array);
            for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten()
            {
                if required.is_some_and(|required| required.iter().any(|other| other == name))
                    || random.is_one_of(2)
                {
                    members.insert(name.clone(), value_of(property, root, random, depth + 1));
                }
            }
            let rest = schema.get("additionalProperties").filter(|rest| rest.is_object());
            let patterns = schema.get("patternProperties").and_then(Value::as_object);
            if let Some(rest) = rest.or_else(|| patterns?.values().next()) {
                let name = if rest.is_object() && patterns.is_some() { "-12" } else { "key" };
                members.insert(name.to_owned(), value_of(rest, root, random, depth + 1));
            }
            Value::Object(members)
        }
        _ => Value::Null,
    }
}

fn random_value(random: &mut Random) -> Value {
    let values = [
        json!(null),
        json!(true),
        json!(0),
        json!(2),
        json!(-4),
        json!(300),
        json!(2.0),
        json!(2.5),
        json!("a"),
        json!("slwo"),
        json!("5"),
        json!("true"),
        json!("FAST"),
        json!([]),
        json!([1]),
        json!({}),
        json!({"kind": "tow"}),
        json!({"some": 1}),
        json!("{\"a\": 1}"),
    ];
    random.pick(&values).clone()
}

/// Changes one place of a value.
pub(super) fn near_miss(value: &mut Value, random: &mut Random) {
    match value {
        Value::Object(members) if !members.is_empty() && !random.is_one_of(8) => {
            let names: Vec<String> = members.keys().cloned().collect();
            let name = random.pick(&names).clone();
            match random.below(7) {
                0 => {
                    members.shift_remove(&name);
                }
                1 => {
                    let member = members.shift_remove(&name).unwrap_or_default();
                    let renamed = match random.below(3) {
                        0 => name.to_uppercase(),
                        1 => format!("{name}s"),
                        _ => (*random.pick(&NAMES)).to_owned(),
                    };
                    members.insert(renamed, member);
                }
                2 => {
                    members.insert((*random.pick(&NAMES)).to_owned(), random_value(random));
                }
                _ => near_miss(&mut members[&name], random),
            }
        }
        Value::Array(items) if !items.is_empty() && !random.is_one_of(6) => {
            let place = random.below(items.len());
            match random.below(5) {
                0 => {
                    items.remove(place);
                }
                1 => {
                    let again = items[place].clone();
                    items.push(again);
                }
                _ => near_miss(&mut items[place], random),
            }
        }
        Value::String(text) if !random.is_one_of(3) => {
            *text = match random.below(4) {
                0 => text.to_uppercase(),
                1 => format!("{text}x"),
                2 => text.chars().rev().collect(),
                _ => text.chars().skip(1).collect(),
            };
        }
        value => *value = random_value(random),
    }
}
