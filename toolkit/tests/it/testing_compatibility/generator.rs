//! Schemas of the kinds that tools have, and values that fit them more often than not.

use serde_json::{Map, Value, json};

/// A list of choices. At its end every choice is the first, so that shorter ones give simpler things.
pub(super) struct Tape<'a> {
    choices: &'a [u8],
    place: usize,
}

impl<'a> Tape<'a> {
    pub(super) fn new(choices: &'a [u8]) -> Self {
        Self { choices, place: 0 }
    }

    fn below(&mut self, count: usize) -> usize {
        let choice = self.choices.get(self.place).copied().unwrap_or(0);
        self.place += 1;
        usize::from(choice) % count
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == count - 1
    }
}

/// A schema of arguments: an object, with definitions to refer to.
pub(super) fn root(tape: &mut Tape<'_>) -> Value {
    let mut root = match tape.below(5) {
        0..4 => object(tape, 0),
        _ => tagged(tape, 0),
    };
    let definitions = json!({"A": definition(tape), "B": schema(tape, 2)});
    root["$defs"] = definitions;
    root
}

/// One that may lead back to itself.
fn definition(tape: &mut Tape<'_>) -> Value {
    let mut object = object(tape, 2);
    if tape.one_in(2) {
        object["properties"]["next"] = json!({"$ref": "#/$defs/A"});
    }
    object
}

fn schema(tape: &mut Tape<'_>, depth: usize) -> Value {
    let deepest = if depth > 2 { 9 } else { 18 };
    match tape.below(deepest) {
        0 => json!({"type": "boolean"}),
        1 | 2 => number(tape, "integer"),
        3 => number(tape, "number"),
        4 | 5 => string(tape),
        6 => {
            let count = 1 + tape.below(4);
            json!({"type": "string", "enum": &["x", "y", "z", "xx"][..count]})
        }
        7 => json!({"const": ([json!("x"), json!(1), json!(null), json!(true)][tape.below(4)])}),
        8 => match tape.below(4) {
            0 => json!({"type": ["string", "integer"]}),
            1 => json!({"type": ["integer", "null"]}),
            2 => json!({}),
            _ => json!({"enum": [1, "x", 1.5, null]}),
        },
        9 | 10 => array(tape, depth),
        11 => tuple(tape, depth),
        12 | 13 => object(tape, depth + 1),
        14 => {
            let parts: Vec<Value> = (0..=tape.below(3)).map(|_| schema(tape, depth + 1)).collect();
            json!({"anyOf": parts})
        }
        15 => tagged(tape, depth + 1),
        16 => json!({"$ref": (["#/$defs/A", "#/$defs/B"][if depth > 1 { 0 } else { tape.below(2) }])}),
        _ => match tape.below(4) {
            0 => json!({"allOf": [object(tape, depth + 1), object(tape, depth + 1)]}),
            1 => json!({"oneOf": [schema(tape, depth + 1), schema(tape, depth + 1)]}),
            2 => {
                let mut mixed = object(tape, depth + 1);
                mixed["anyOf"] = json!([object(tape, depth + 1), object(tape, depth + 1)]);
                if mixed.as_object_mut().unwrap().shift_remove("additionalProperties").is_some() {
                    mixed["unevaluatedProperties"] = false.into();
                }
                mixed
            }
            _ => json!({"type": "string", "not": {"const": (["x", "y"][tape.below(2)])}}),
        },
    }
}

fn number(tape: &mut Tape<'_>, kind: &str) -> Value {
    let mut schema = json!({"type": kind});
    let mut bound = |keyword: &str, tape: &mut Tape<'_>, from: i64| {
        let at = from + i64::try_from(tape.below(4)).unwrap();
        match tape.below(5) {
            3 => schema[keyword] = at.into(),
            4 => schema[keyword] = json!(f64::from(i32::try_from(at).unwrap()) + 0.5),
            _ => {}
        }
    };
    bound("minimum", tape, -2);
    bound("exclusiveMinimum", tape, -2);
    bound("maximum", tape, 1);
    bound("exclusiveMaximum", tape, 1);
    match tape.below(6) {
        4 => schema["multipleOf"] = 2.into(),
        5 => schema["multipleOf"] = 1.into(),
        _ => {}
    }
    schema
}

fn string(tape: &mut Tape<'_>) -> Value {
    let mut schema = json!({"type": "string"});
    let (least, most) = (tape.below(3), 1 + tape.below(3));
    if tape.one_in(3) {
        schema["minLength"] = least.into();
    }
    if tape.one_in(3) {
        schema["maxLength"] = most.into();
    }
    if tape.one_in(4) {
        schema["pattern"] = ["^x", "x$"][tape.below(2)].into();
    }
    schema
}

fn array(tape: &mut Tape<'_>, depth: usize) -> Value {
    let mut schema = json!({"type": "array", "items": schema(tape, depth + 1)});
    let (least, most) = (tape.below(3), tape.below(4));
    if tape.one_in(3) {
        schema["minItems"] = least.into();
    }
    if tape.one_in(3) {
        schema["maxItems"] = most.into();
    }
    if tape.one_in(4) {
        schema["uniqueItems"] = true.into();
    }
    if tape.one_in(6) {
        schema["contains"] = json!({"type": (["integer", "string"][tape.below(2)])});
    }
    schema
}

fn tuple(tape: &mut Tape<'_>, depth: usize) -> Value {
    let places: Vec<Value> = (0..=tape.below(2)).map(|_| schema(tape, depth + 1)).collect();
    let mut tuple = json!({"type": "array", "prefixItems": places, "minItems": tape.below(3)});
    match tape.below(3) {
        0 => tuple["items"] = false.into(),
        1 => tuple["items"] = schema(tape, depth + 1),
        _ => {}
    }
    tuple
}

fn object(tape: &mut Tape<'_>, depth: usize) -> Value {
    let mut properties = Map::new();
    let mut required = Vec::new();
    for name in ["a", "b", "c"] {
        if tape.one_in(2) {
            properties.insert(name.into(), schema(tape, depth + 1));
            if tape.one_in(2) {
                required.push(name);
            }
        }
    }
    let mut object = json!({"type": "object", "properties": properties});
    if !required.is_empty() {
        object["required"] = json!(required);
    }
    match tape.below(4) {
        0 | 1 => object["additionalProperties"] = false.into(),
        2 => object["additionalProperties"] = schema(tape, depth + 2),
        _ => {}
    }
    match tape.below(12) {
        9 => object["minProperties"] = tape.below(3).into(),
        10 => object["maxProperties"] = tape.below(4).into(),
        11 => object["patternProperties"] = json!({"^[ab]$": schema(tape, depth + 1)}),
        _ => {}
    }
    object
}

/// An enum of structs, with its tag within or around.
fn tagged(tape: &mut Tape<'_>, depth: usize) -> Value {
    let within = tape.one_in(2);
    let count = 1 + tape.below(3);
    let variants: Vec<Value> = ["p", "q", "r"][..count]
        .iter()
        .map(|tag| {
            if within {
                let mut variant = object(tape, depth + 1);
                variant["properties"]["tag"] = json!({"type": "string", "const": tag});
                let required = variant["required"].as_array().cloned().unwrap_or_default();
                variant["required"] = [vec![json!("tag")], required].concat().into();
                variant
            } else {
                let mut variant = json!({"type": "object", "required": [tag], "additionalProperties": false});
                variant["properties"] = json!({ *tag: schema(tape, depth + 1) });
                variant
            }
        })
        .collect();
    json!({"type": "object", "oneOf": variants})
}

/// A value for `schema`.
pub(super) fn value(tape: &mut Tape<'_>, schema: &Value, root: &Value, depth: usize) -> Value {
    let any = |tape: &mut Tape<'_>| {
        [json!("x"), json!(1), json!(null), json!({}), json!([]), json!(1.5), json!(true)][tape.below(7)]
            .clone()
    };
    if depth > 6 || tape.one_in(24) {
        return any(tape);
    }
    if let Some(target) = schema["$ref"].as_str() {
        return value(tape, root.pointer(&target[1..]).unwrap(), root, depth + 1);
    }
    for key in ["oneOf", "anyOf", "allOf"] {
        if let Some(parts) = schema[key].as_array() {
            let chosen = &parts[tape.below(parts.len())];
            let part = value(tape, chosen, root, depth + 1);
            let mut whole = if schema.get("properties").is_some() {
                object_value(tape, schema, root, depth)
            } else {
                json!({})
            };
            if key == "allOf" {
                whole = value(tape, &parts[0], root, depth + 1);
            }
            return match (whole, part) {
                (Value::Object(mut whole), Value::Object(part)) => {
                    whole.extend(part);
                    whole.into()
                }
                (_, part) => part,
            };
        }
    }
    if let Some(value) = schema.get("const") {
        return value.clone();
    }
    if let Some(values) = schema["enum"].as_array() {
        return values[tape.below(values.len())].clone();
    }
    let kind = match &schema["type"] {
        Value::String(kind) => kind.as_str(),
        Value::Array(kinds) => kinds[tape.below(kinds.len())].as_str().unwrap(),
        _ => return any(tape),
    };
    match kind {
        "boolean" => tape.one_in(2).into(),
        "integer" => (i64::try_from(tape.below(9)).unwrap() - 3).into(),
        "number" => [json!(-3), json!(-1.5), json!(0), json!(0.5), json!(2.0), json!(2.25), json!(4)]
            [tape.below(7)]
        .clone(),
        "string" => ["", "x", "y", "xx", "xyx", "yyyy", "xyz"][tape.below(7)].into(),
        "array" => {
            let places = schema["prefixItems"].as_array().cloned().unwrap_or_default();
            let free = json!({});
            let items = schema.get("items").filter(|items| items.is_object()).unwrap_or(&free);
            (0..tape.below(4))
                .map(|index| value(tape, places.get(index).unwrap_or(items), root, depth + 1))
                .collect()
        }
        "object" => object_value(tape, schema, root, depth),
        _ => Value::Null,
    }
}

fn object_value(tape: &mut Tape<'_>, schema: &Value, root: &Value, depth: usize) -> Value {
    let mut members = Map::new();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let is_required =
            schema["required"].as_array().is_some_and(|names| names.iter().any(|other| other == name));
        if is_required || tape.one_in(2) {
            members.insert(name.clone(), value(tape, property, root, depth + 1));
        }
    }
    let rest = &schema["additionalProperties"];
    if *rest != false && tape.one_in(3) {
        let name = ["a", "b", "c", "d"][tape.below(4)];
        if !members.contains_key(name) {
            members.insert(name.into(), value(tape, rest, root, depth + 1));
        }
    }
    members.into()
}
