//! Properties of all schemas in a dialect, at random.

use super::random::{Flavour, Random, schema, value};
use super::subset;
use jsonschema::{Draft, Validator};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolkit::{arguments::CallArguments, descriptor::Definition, dialects::Dialect};

fn validator(schema: &Value) -> Validator {
    jsonschema::options().with_draft(Draft::Draft202012).build(schema).unwrap()
}

/// A definition of a tool with this schema.
pub(crate) fn definition(name: &str, schema: &Value) -> Definition {
    let wire = json!({"name": name, "description": "Does something.", "inputSchema": schema,
        "annotations": {"readOnlyHint": false, "idempotentHint": false}});
    serde_json::from_value(wire).unwrap()
}

/// A value as a model writes it that is held to a strict schema: what is absent is `null`. `None` where it does not fit.
fn filled(value: &Value, schema: &Value) -> Option<Value> {
    let part = schema.as_object()?;
    if let Some(options) = part.get("anyOf").and_then(Value::as_array) {
        return options.iter().find_map(|option| filled(value, option));
    }
    let whole = match value {
        Value::Object(members) => {
            let properties = part.get("properties").and_then(Value::as_object)?;
            let mut whole = Map::new();
            for (name, property) in properties {
                let member = match members.get(name) {
                    Some(member) => filled(member, property)?,
                    None => Value::Null,
                };
                whole.insert(name.clone(), member);
            }
            if members.keys().any(|name| !properties.contains_key(name)) {
                return None;
            }
            Value::Object(whole)
        }
        Value::Array(items) => {
            let each = part.get("items")?;
            Value::Array(items.iter().map(|item| filled(item, each)).collect::<Option<_>>()?)
        }
        other => other.clone(),
    };
    validator(schema).is_valid(&whole).then_some(whole)
}

/// The value without what is `null` in objects.
fn bare(value: &Value) -> Value {
    match value {
        Value::Object(members) => members
            .iter()
            .filter(|(_, member)| !member.is_null())
            .map(|(name, member)| (name.clone(), bare(member)))
            .collect(),
        Value::Array(items) => items.iter().map(bare).collect(),
        other => other.clone(),
    }
}

/// How many checks were of something.
#[derive(Default)]
struct Seen {
    values: usize,
    strict: usize,
    dropped: usize,
}

fn check(seed: u64, flavour: Flavour, count: &mut Seen) {
    let mut random = Random::new(seed);
    let own = schema(&mut random, flavour);
    // A schema that means nothing is none of a tool.
    let Ok(original) = jsonschema::options().with_draft(Draft::Draft202012).build(&own) else { return };
    let values: Vec<Value> = (0..12)
        .map(|_| value(&mut random, &own, &own, 0))
        .filter(|value| value.is_object() && original.is_valid(value))
        .collect();
    count.values += values.len();
    hold(&own, &original, &values, count);
}

/// Whatever of these values fits the schema is taken in every dialect, and read back where the dialect is strict.
pub(crate) fn hold_of(own: &Value, values: &[Value]) {
    let original = validator(own);
    let fitting: Vec<Value> = values.iter().filter(|value| original.is_valid(value)).cloned().collect();
    assert!(!fitting.is_empty(), "nothing fits {own}");
    hold(own, &original, &fitting, &mut Seen::default());
}

/// Returns true if a value is refused only for properties that do not fit each schema which the root and its variants have for them: a
/// property of variants has the schemas of those that name it.
fn is_narrowed(own: &Value, shown: &Validator, value: &Value) -> bool {
    let is_composed =
        ["anyOf", "oneOf"].iter().any(|key| own.get(key).is_some()) || own.get("$ref").is_some();
    is_composed
        && shown.iter_errors(value).all(|error| {
            let path = error.instance_path().to_string();
            let Some(name) = path.strip_prefix('/').and_then(|path| path.split('/').next()) else {
                return false;
            };
            let name = name.replace("~1", "/").replace("~0", "~");
            let mut named = Vec::new();
            schemas_of(own, own, &name, (0, false), &mut named);
            named.iter().any(|schema| {
                let defs = own.get("$defs").cloned().unwrap_or_else(|| json!({}));
                !validator(&json!({"$defs": defs, "allOf": [schema]})).is_valid(&value[&name])
            })
        })
}

/// The schemas that a part, and the parts that it is put together of, have for a property: `false` for a closed part beside one that names
/// the property. `depth` comes with whether a part beside this one names it.
fn schemas_of(
    part: &Value,
    root: &Value,
    name: &str,
    (depth, is_named): (u32, bool),
    found: &mut Vec<Value>,
) {
    if depth > 8 {
        return;
    }
    let own = part.get("properties").and_then(|properties| properties.get(name));
    if own.is_none() && is_named && part.get("additionalProperties") == Some(&Value::Bool(false)) {
        found.push(Value::Bool(false));
    }
    found.extend(own.cloned());
    let beside = (depth + 1, is_named || own.is_some());
    for key in ["anyOf", "oneOf", "allOf"] {
        for part in part.get(key).and_then(Value::as_array).into_iter().flatten() {
            schemas_of(part, root, name, beside, found);
        }
    }
    let target = part.get("$ref").and_then(Value::as_str).and_then(|target| target.strip_prefix('#'));
    if let Some(target) = target.and_then(|pointer| root.pointer(&pointer.replace("%20", " "))) {
        schemas_of(target, root, name, beside, found);
    }
}

/// Returns true if the root says that it is an object, and is not composed of other schemas.
fn is_one_object(own: &Value) -> bool {
    // `allOf` may stand beside its own properties.
    let composing = ["$ref", "$dynamicRef", "$recursiveRef", "anyOf", "oneOf"];
    own["type"] == "object"
        && own["properties"].is_object()
        && composing.iter().all(|key| own.get(key).is_none())
}

fn hold(own: &Value, original: &Validator, values: &[Value], count: &mut Seen) {
    for dialect in Dialect::ALL {
        let said = dialect.schema(own);
        if *dialect == Dialect::Mcp && is_one_object(own) {
            assert_eq!(said.schema, *own);
        }
        let is_strict = dialect.is_strict() && said.not_strict.is_none();
        let fault = subset::fault(*dialect, &said.schema, is_strict);
        assert_eq!(fault, None, "{dialect}: {} of {own}", said.schema);
        for loss in &said.loosened {
            let stands = loss.pointer.is_empty() || own.pointer(&loss.pointer).is_some();
            assert!(stands, "{dialect}: {loss:?} of {own}");
        }
        let shown = validator(&said.schema);
        if !is_strict {
            for value in values {
                let is_taken = shown.is_valid(value) || is_narrowed(own, &shown, value);
                assert!(is_taken, "{dialect}: {value}\n{own}\n{}", said.schema);
            }
            continue;
        }
        count.strict += 1;
        let definitions = dialect.definitions([definition("t", own)]);
        for value in values {
            let written = filled(value, &said.schema);
            let written = written.unwrap_or_else(|| panic!("{dialect}: {value}\n{own}\n{}", said.schema));
            let item = json!({"type": "function_call", "call_id": "1", "name": "t", "arguments": written.to_string()});
            let message = json!({"tool_calls": [{"id": "1", "type": "function",
                "function": {"name": "t", "arguments": written.to_string()}}]});
            let is_chat = *dialect == Dialect::OpenAiChatStrict;
            let calls = definitions.parse(if is_chat { &message } else { &item }).unwrap();
            let read = match &calls[0].arguments {
                CallArguments::Text(text) => serde_json::from_str(text).unwrap(),
                CallArguments::Json(value) => value.clone(),
                other => panic!("{other:?}"),
            };
            count.dropped += usize::from(read != written);
            assert!(
                original.is_valid(&read),
                "{dialect}: {value} written {written} read {read}\n{own}\n{}",
                said.schema
            );
            assert_eq!(bare(&read), bare(value), "{dialect}: written {written}\n{own}\n{}", said.schema);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_fits_a_schema_fits_it_in_every_dialect(seed: u64) {
        check(seed, Flavour::Any, &mut Seen::default());
    }

    #[test]
    fn strict_arguments_are_read_back(seed: u64) {
        check(seed, Flavour::Closed, &mut Seen::default());
    }
}

/// An open variant takes a property that only a closed part beside another variant refuses.
#[test]
fn a_property_that_a_closed_part_refuses_is_narrowed() {
    check(17_588_622_665_404_363_460, Flavour::Any, &mut Seen::default());
}

#[test]
fn the_random_schemas_are_of_every_kind() {
    let count: usize = std::env::var("SCHEMA_CASES").ok().and_then(|count| count.parse().ok()).unwrap_or(150);
    let mut any = Seen::default();
    let mut closed = Seen::default();
    for seed in (0..).take(count) {
        check(seed, Flavour::Any, &mut any);
        check(seed, Flavour::Closed, &mut closed);
    }
    // Else the properties above would hold of nothing.
    assert!(any.values > count, "{} values", any.values);
    assert!(closed.strict > count / 6, "{} strict schemas", closed.strict);
    assert!(closed.dropped > count / 6, "{} values with nulls that were dropped", closed.dropped);
}
