//! A first look at arguments: most tools take a closed object of plain values, and most calls fit. For these a handful
//! of comparisons stands in front of the validator; of everything else it says nothing.

use serde_json::{Map, Value};

/// What a tool takes, where the schema's root is no more than a closed object of named properties.
#[derive(Debug)]
pub(crate) struct Plain {
    /// In the order of the function, in which models mostly give them.
    properties: Vec<(String, Kind)>,
    /// The places of those that are required, as bits.
    required: u64,
}

/// What is known of a property's schema.
#[derive(Debug)]
enum Kind {
    Boolean,
    /// Both ends included.
    Integer {
        least: i128,
        most: i128,
    },
    /// Any number at all.
    Number,
    /// How many characters.
    Text {
        least: u64,
        most: u64,
    },
    /// One of these strings.
    Choice(Vec<String>),
    /// A list of so many items.
    List {
        item: Box<Self>,
        least: u64,
        most: u64,
    },
    /// Only the validator can tell.
    Other,
}

/// Keywords that forbid nothing.
const NOTES: [&str; 6] = ["title", "description", "default", "examples", "deprecated", "$comment"];

impl Plain {
    /// The schema, if it is of this kind.
    pub(super) fn of(schema: &Value) -> Option<Self> {
        let root = schema.as_object()?;
        let known = ["type", "properties", "required", "additionalProperties"];
        if has_others(root, &known)
            || root.get("type")? != "object"
            || root.get("additionalProperties")? != &Value::Bool(false)
        {
            return None;
        }
        let properties = match root.get("properties") {
            Some(properties) => properties.as_object()?,
            None => &Map::new(),
        };
        let properties: Vec<(String, Kind)> =
            properties.iter().map(|(name, property)| (name.clone(), kind(property))).collect();
        let mut required = 0;
        for name in root.get("required").map_or(Some(&Vec::new()), Value::as_array)? {
            let place = properties.iter().position(|(known, _)| name == known)?;
            required |= 1_u64.checked_shl(u32::try_from(place).ok()?)?;
        }
        (properties.len() <= 64).then_some(Self { properties, required })
    }

    /// Whether the arguments are valid for certain, and need no change before they are decoded. What is not may be
    /// valid all the same.
    pub(crate) fn certainly_takes(&self, arguments: &Value) -> bool {
        let Value::Object(members) = arguments else { return false };
        let (mut next, mut found) = (0, 0_u64);
        for (name, value) in members {
            let is_next = self.properties.get(next).is_some_and(|(known, _)| known == name);
            let place = if is_next {
                next
            } else {
                match self.properties.iter().position(|(known, _)| known == name) {
                    Some(place) => place,
                    None => return false,
                }
            };
            if !self.properties[place].1.certainly_takes(value) {
                return false;
            }
            found |= 1 << place;
            next = place + 1;
        }
        self.required & !found == 0
    }
}

impl Kind {
    fn certainly_takes(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Boolean, Value::Bool(_))
            | (Self::Number, Value::Number(_))
            | (Self::Text { least: 0, most: u64::MAX }, Value::String(_)) => true,
            // `5.0` is an integer too, and must become one.
            (Self::Integer { least, most }, Value::Number(number)) => {
                let integer = number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from));
                integer.is_some_and(|integer| *least <= integer && integer <= *most)
            }
            (Self::Text { least, most }, Value::String(text)) => {
                (*least..=*most).contains(&(text.chars().count() as u64))
            }
            (Self::Choice(allowed), Value::String(text)) => allowed.contains(text),
            (Self::List { item, least, most }, Value::Array(items)) => {
                (*least..=*most).contains(&(items.len() as u64))
                    && items.iter().all(|value| item.certainly_takes(value))
            }
            _ => false,
        }
    }
}

fn kind(schema: &Value) -> Kind {
    plain_kind(schema).unwrap_or(Kind::Other)
}

fn plain_kind(schema: &Value) -> Option<Kind> {
    let members = schema.as_object()?;
    let unbounded = |known: &[&str]| !has_others(members, known);
    match members.get("type")?.as_str()? {
        "boolean" if unbounded(&["type"]) => Some(Kind::Boolean),
        "number" if unbounded(&["type"]) => Some(Kind::Number),
        "string" if unbounded(&["type", "enum"]) && members.contains_key("enum") => {
            let allowed = members.get("enum")?.as_array()?.iter();
            Some(Kind::Choice(allowed.map(|value| value.as_str().map(str::to_owned)).collect::<Option<_>>()?))
        }
        "string" if unbounded(&["type", "minLength", "maxLength"]) => {
            let (least, most) = lengths(members, "minLength", "maxLength")?;
            Some(Kind::Text { least, most })
        }
        "integer" if unbounded(&["type", "minimum", "maximum", "exclusiveMaximum"]) => {
            let bound = |key: &str, none: i128| match members.get(key) {
                None => Some(none),
                Some(bound) => bound.as_i64().map(i128::from).or_else(|| bound.as_u64().map(i128::from)),
            };
            let most =
                bound("maximum", i128::MAX)?.min(bound("exclusiveMaximum", i128::MAX)?.checked_sub(1)?);
            Some(Kind::Integer { least: bound("minimum", i128::MIN)?, most })
        }
        "array" if unbounded(&["type", "items", "minItems", "maxItems"]) => {
            let (least, most) = lengths(members, "minItems", "maxItems")?;
            Some(Kind::List { item: Box::new(plain_kind(members.get("items")?)?), least, most })
        }
        _ => None,
    }
}

/// Whether a schema has keywords beside these and those that forbid nothing.
fn has_others(schema: &Map<String, Value>, known: &[&str]) -> bool {
    schema.keys().any(|key| !known.contains(&key.as_str()) && !NOTES.contains(&key.as_str()))
}

fn lengths(schema: &Map<String, Value>, least: &str, most: &str) -> Option<(u64, u64)> {
    let bound = |key: &str, none| schema.get(key).map_or(Some(none), Value::as_u64);
    Some((bound(least, 0)?, bound(most, u64::MAX)?))
}

#[cfg(test)]
mod tests {
    use super::super::check::validator;
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn schemas() -> impl Strategy<Value = Value> {
        let bound = prop_oneof![
            (-3_i64..4).prop_map(Value::from),
            Just(json!(i64::MIN)),
            Just(json!(i64::MAX)),
            Just(json!(u64::MAX)),
            Just(json!(2.5)),
            Just(json!(2.0)),
        ];
        let length = prop_oneof![(0_u64..4).prop_map(Value::from), Just(json!(u64::MAX)), Just(json!(2.0))];
        let with = |kind: &'static str, keys: &'static [&'static str], values: BoxedStrategy<Value>| {
            proptest::sample::subsequence(keys, 0..=keys.len()).prop_flat_map(move |keys| {
                proptest::collection::vec(values.clone(), keys.len()).prop_map(move |values| {
                    let mut schema = json!({"type": kind, "description": "What it is."});
                    for (key, value) in keys.iter().zip(values) {
                        schema[*key] = value;
                    }
                    schema
                })
            })
        };
        let words = proptest::sample::subsequence(vec!["", "a", "äö", "\u{1F600}b"], 1..=4);
        let plain = prop_oneof![
            Just(json!({"type": "boolean"})),
            Just(json!({"type": "string", "pattern": "^a"})),
            Just(json!({"type": ["integer", "null"]})),
            Just(json!({"anyOf": [{"type": "integer"}, {"type": "string"}]})),
            Just(json!(true)),
            Just(json!({"type": "integer", "multipleOf": 2})),
            Just(json!({"enum": [1, "a"]})),
            words.prop_map(|words| json!({"type": "string", "enum": words})),
            with("string", &["minLength", "maxLength"], length.clone().boxed()),
            with("integer", &["minimum", "maximum", "exclusiveMaximum"], bound.clone().boxed()),
            with("number", &["minimum", "maximum"], bound.boxed()),
        ];
        let lists = (plain.clone(), with("array", &["minItems", "maxItems", "uniqueItems"], length.boxed()))
            .prop_map(|(item, mut list)| {
                list["items"] = item;
                if list.get("uniqueItems").is_some() {
                    list["uniqueItems"] = json!(true);
                }
                list
            });
        let properties = proptest::collection::vec(prop_oneof![2 => plain, 1 => lists], 0..4);
        (properties, any::<[bool; 4]>(), proptest::bool::weighted(0.9)).prop_map(|(properties, required, closed)| {
            let names = ["a", "b", "c", "d"];
            let required: Vec<&str> =
                names.iter().zip(required).take(properties.len()).filter(|(_, is)| *is).map(|(name, _)| *name).collect();
            let properties: Map<String, Value> =
                names.iter().zip(properties).map(|(name, schema)| ((*name).to_owned(), schema)).collect();
            json!({"type": "object", "properties": properties, "required": required, "additionalProperties": !closed})
        })
    }

    fn arguments() -> impl Strategy<Value = Value> {
        let plain = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-4_i64..5).prop_map(Value::from),
            proptest::sample::select(vec![
                json!(i64::MIN),
                json!(i64::MAX),
                json!(9_223_372_036_854_775_808_u64),
                json!(u64::MAX),
                json!(2.0),
                json!(2.5),
                json!(-0.0),
                json!(1e300),
            ]),
            proptest::sample::select(vec!["", "a", "äö", "\u{1F600}b", "abc", "e\u{301}"])
                .prop_map(Value::from),
        ];
        let lists = proptest::collection::vec(plain.clone(), 0..4).prop_map(Value::from);
        let value = prop_oneof![3 => plain, 1 => lists, 1 => Just(json!({}))];
        let names = proptest::sample::subsequence(vec!["a", "b", "c", "d", "e"], 0..=4).prop_shuffle();
        (names, proptest::collection::vec(value, 4)).prop_map(|(names, values)| {
            names.into_iter().map(str::to_owned).zip(values).collect::<Map<_, _>>().into()
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(5_000))]

        #[test]
        fn what_it_takes_the_validator_takes(schema in schemas(), arguments in arguments()) {
            if let (Some(plain), Ok(validator)) = (Plain::of(&schema), validator(&schema))
                && plain.certainly_takes(&arguments)
            {
                prop_assert!(validator.is_valid(&arguments), "{schema} {arguments}");
            }
        }
    }

    #[test]
    fn it_takes_what_most_calls_are() {
        let schema = json!({"type": "object", "required": ["path"], "additionalProperties": false, "properties": {
            "path": {"type": "string", "description": "A file."},
            "mode": {"type": "string", "enum": ["fast", "safe"], "default": "fast"},
            "lines": {"type": "array", "items": {"type": "integer", "minimum": 0}, "maxItems": 2},
            "ratio": {"type": "number"},
            "deep": {"type": "object"},
        }});
        let plain = Plain::of(&schema).unwrap();
        for (arguments, is_taken) in [
            (json!({"path": "a"}), true),
            (json!({"ratio": 5.0, "mode": "safe", "path": "", "lines": [0, u64::MAX]}), true),
            (json!({"mode": "safe"}), false),
            (json!({"path": "a", "mode": "slow"}), false),
            (json!({"path": "a", "lines": [0, 1, 2]}), false),
            (json!({"path": "a", "lines": [-1]}), false),
            (json!({"path": "a", "lines": [1.0]}), false),
            (json!({"path": "a", "ratio": null}), false),
            (json!({"path": "a", "deep": {}}), false),
            (json!({"path": "a", "other": 1}), false),
            (json!("path"), false),
        ] {
            assert_eq!(plain.certainly_takes(&arguments), is_taken, "{arguments}");
        }
        for (key, value) in
            [("additionalProperties", json!(true)), ("minProperties", json!(2)), ("type", json!("array"))]
        {
            let mut other = schema.clone();
            other[key] = value;
            assert!(Plain::of(&other).is_none(), "{other}");
        }
    }
}
