//! JSON at and around what a schema allows.

use proptest::prelude::*;
use serde_json::{Map, Number, Value, json};

/// How deep values are made.
const DEEPEST: usize = 4;

pub(crate) fn resolve<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    match schema["$ref"].as_str() {
        Some(reference) => resolve(root.pointer(&reference[1..]).unwrap(), root),
        None => schema,
    }
}

/// How often values are not what was asked for.
#[derive(Clone, Copy, PartialEq)]
enum Noise {
    Little,
    Much,
}

/// Values that `schema` allows or nearly allows.
pub(crate) fn values(schema: &Value, root: &Value) -> BoxedStrategy<Value> {
    prop_oneof![around(schema, root, 0, Noise::Little), around(schema, root, 0, Noise::Much)].boxed()
}

/// Mostly what is asked for; sometimes as a string, in another case style, or something else.
fn around(schema: &Value, root: &Value, depth: usize, noise: Noise) -> BoxedStrategy<Value> {
    let asked = allowed(resolve(schema, root), root, depth, noise);
    if noise == Noise::Little {
        return prop_oneof![100 => asked, 1 => anything()].boxed();
    }
    prop_oneof![
        16 => asked.clone(),
        1 => asked.clone().prop_map(|value| Value::String(value.to_string())),
        1 => asked.prop_map(|value| match value {
            Value::String(text) => Value::String(text.to_uppercase()),
            Value::Array(mut items) if items.len() == 1 => items.remove(0),
            value => json!([value]),
        }),
        1 => anything(),
    ]
    .boxed()
}

fn anything() -> BoxedStrategy<Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        numbers(),
        texts(),
        Just(json!([])),
        Just(json!({})),
        prop::collection::vec(prop_oneof![numbers(), texts()], 1..3).prop_map(Value::from),
        prop::sample::select(vec!["a", "kind", "value"]).prop_map(|name| json!({ name: 1 })),
    ]
    .boxed()
}

fn allowed(schema: &Value, root: &Value, depth: usize, noise: Noise) -> BoxedStrategy<Value> {
    if let Some(value) = schema.get("const") {
        return Just(value.clone()).boxed();
    }
    if let Some(values) = schema["enum"].as_array() {
        return prop::sample::select(values.clone()).boxed();
    }
    let options = schema["oneOf"].as_array().or_else(|| schema["anyOf"].as_array());
    if let Some(options) = options {
        let own = schema.get("properties").is_some().then(|| object(schema, root, depth, noise));
        let options: Vec<BoxedStrategy<Value>> =
            options.iter().map(|option| allowed(resolve(option, root), root, depth, noise)).collect();
        let variant = proptest::strategy::Union::new(options);
        return match own {
            Some(own) => (own, variant).prop_map(|(own, variant)| merged(own, variant)).boxed(),
            None => variant.boxed(),
        };
    }
    let kinds: Vec<&str> = match &schema["type"] {
        Value::String(kind) => vec![kind],
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => return anything(),
    };
    proptest::strategy::Union::new(kinds.into_iter().map(|kind| match kind {
        "null" => Just(Value::Null).boxed(),
        "boolean" => any::<bool>().prop_map(Value::from).boxed(),
        "integer" => integers(schema, noise),
        "number" => numbers(),
        "string" => texts(),
        "array" => array(schema, root, depth, noise),
        _ => object(schema, root, depth, noise),
    }))
    .boxed()
}

fn merged(own: Value, variant: Value) -> Value {
    match (own, variant) {
        (Value::Object(mut own), Value::Object(variant)) => {
            own.extend(variant);
            own.into()
        }
        (own, _) => own,
    }
}

/// Bounds, one beyond them, and the same as floats.
fn integers(schema: &Value, noise: Noise) -> BoxedStrategy<Value> {
    let mut edges: Vec<i128> = vec![0, 1, -1, 5];
    for bound in [&schema["minimum"], &schema["maximum"]] {
        let bound = bound.as_i64().map(i128::from).or_else(|| bound.as_u64().map(i128::from));
        edges.extend(bound.into_iter().flat_map(|bound| [bound - 1, bound, bound + 1]));
    }
    let in_bounds =
        (schema["minimum"].as_i64().unwrap_or(-9), schema["maximum"].as_i64().unwrap_or(i64::MAX));
    if noise == Noise::Little {
        let allowed = edges.into_iter().filter(|edge| {
            let least = schema["minimum"].as_i64().map_or(i128::MIN, i128::from);
            let greatest = schema["maximum"].as_u64().map_or(i128::MAX, i128::from);
            (least..=greatest).contains(edge)
        });
        return prop::sample::select(allowed.collect::<Vec<_>>()).prop_map(number).boxed();
    }
    prop_oneof![
        3 => prop::sample::select(edges.clone()).prop_map(number),
        3 => (in_bounds.0..=in_bounds.1).prop_map(Value::from),
        1 => prop::sample::select(edges).prop_map(float),
        1 => numbers(),
    ]
    .boxed()
}

/// An integer of JSON, or the nearest float where it has more than 64 bits.
fn number(integer: i128) -> Value {
    let whole =
        i64::try_from(integer).map(Number::from).or_else(|_| u64::try_from(integer).map(Number::from));
    whole.map_or_else(|_| float(integer), Value::from)
}

#[expect(clippy::cast_precision_loss, reason = "the nearest float is what is wanted")]
fn float(integer: i128) -> Value {
    Value::from(integer as f64)
}

fn numbers() -> BoxedStrategy<Value> {
    let edges = [
        0.0,
        -0.0,
        0.5,
        -0.5,
        5.0,
        1e15,
        9_007_199_254_740_993.0,
        9.223_372_036_854_775e18,
        9.223_372_036_854_776e18,
        -9.223_372_036_854_776e18,
        1.844_674_407_370_955_2e19,
        1e20,
        1e308,
        -1e308,
        f64::MAX,
        f64::MIN_POSITIVE,
        5e-324,
    ];
    prop_oneof![
        2 => prop::sample::select(edges.to_vec()).prop_map(Value::from),
        1 => any::<f64>().prop_filter_map("JSON has no such number", |float| Number::from_f64(float).map(Value::from)),
        1 => any::<i64>().prop_map(Value::from),
        1 => prop::sample::select(vec![u64::MAX, u64::MAX - 1, 1 << 63]).prop_map(Value::from),
    ]
    .boxed()
}

fn texts() -> BoxedStrategy<Value> {
    let edges = [
        "",
        "a",
        "ab",
        "é",
        "e\u{301}",
        "\u{10FFFF}",
        "\u{0}",
        "\u{FEFF}",
        "👩‍👩‍👧",
        "\u{202E}",
        " ",
        "\n",
        "\"",
        "\\",
        "/",
        "a/b",
        "null",
        "true",
        "5",
        "5.0",
        "[]",
        "{}",
        "[1]",
        "{\"a\":1}",
    ];
    prop_oneof![
        3 => prop::sample::select(edges.to_vec()).prop_map(Value::from),
        1 => any::<char>().prop_map(|letter| letter.to_string().into()),
        1 => any::<String>().prop_map(Value::from),
    ]
    .boxed()
}

fn array(schema: &Value, root: &Value, depth: usize, noise: Noise) -> BoxedStrategy<Value> {
    let places = schema["prefixItems"].as_array().map_or(&[][..], Vec::as_slice);
    let rest = schema.get("items").filter(|items| items.is_object());
    if depth >= DEEPEST || (places.is_empty() && rest.is_none()) {
        return Just(json!([])).boxed();
    }
    let places: Vec<_> = places.iter().map(|place| around(place, root, depth + 1, noise)).collect();
    let rest = rest.map(|rest| around(rest, root, depth + 1, noise));
    let least = schema["minItems"].as_u64().map_or(0, |least| usize::try_from(least).unwrap());
    let lengths = prop_oneof![6 => Just(least.max(places.len())), 3 => least..least + 3, 1 => 0..least + 1];
    (places, lengths)
        .prop_flat_map(move |(first, length)| {
            let more = length.saturating_sub(first.len());
            let rest = rest.clone().unwrap_or_else(anything);
            (Just(first), prop::collection::vec(rest, more), Just(length), 0..12_u8)
        })
        .prop_map(|(mut items, rest, length, repeats)| {
            items.extend(rest);
            items.truncate(length);
            // A set refuses an item that is there twice.
            if let (0, Some(first)) = (repeats, items.first().cloned()) {
                items.push(first);
            }
            items.into()
        })
        .boxed()
}

fn object(schema: &Value, root: &Value, depth: usize, noise: Noise) -> BoxedStrategy<Value> {
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let mut members: Vec<BoxedStrategy<Option<(String, Value)>>> = Vec::new();
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let is_required = required.contains(&name.as_str());
        let there = match (is_required, noise) {
            (true, Noise::Little) => 400,
            (true, Noise::Much) => 19,
            (false, _) => 1,
        };
        let absent = if is_required { 1 } else { 2 };
        if depth >= DEEPEST && !is_required {
            continue;
        }
        let own = name.clone();
        let value =
            around(property, root, depth + 1, noise).prop_map(move |value| Some((own.clone(), value)));
        let other = name.replace('_', "-").to_uppercase();
        let spelled =
            around(property, root, depth + 1, noise).prop_map(move |value| Some((other.clone(), value)));
        members.push(match noise {
            Noise::Little => prop_oneof![there => value, absent => Just(None)].boxed(),
            Noise::Much => prop_oneof![there => value, 1 => spelled, absent => Just(None)].boxed(),
        });
    }
    let rest = schema.get("additionalProperties").filter(|rest| rest.is_object());
    let names = prop::sample::select(vec!["", "a", "\u{10FFFF}", "A", "x-y", "value", "5", "zz"]);
    let rest = match rest {
        Some(rest) if depth < DEEPEST => {
            prop::collection::vec((names, around(rest, root, depth + 1, noise)), 0..3).boxed()
        }
        _ if noise == Noise::Little => Just(Vec::new()).boxed(),
        _ => prop_oneof![19 => Just(Vec::new()), 1 => Just(vec![("zz", json!(1))])].boxed(),
    };
    (members, rest)
        .prop_map(|(members, rest)| {
            let mut object: Map<String, Value> = members.into_iter().flatten().collect();
            object.extend(rest.into_iter().map(|(name, value)| (name.to_owned(), value)));
            object.into()
        })
        .boxed()
}
