//! A fast check of arguments: most tools accept a closed object of plain values, and most calls are valid. For these, a
//! few comparisons replace the validator; in all other cases the check gives no result.

use serde_json::{Map, Value};

/// A schema whose root is no more than a closed object of named properties.
#[derive(Debug)]
pub(crate) struct Plain {
    /// In the order of the function's parameters, in which models mostly send them.
    properties: Vec<(String, Kind)>,
    /// The indices of the required properties, as bits.
    required: u64,
}

/// The schema of a property.
#[derive(Debug)]
enum Kind {
    Boolean,
    /// An integer, with both bounds inclusive.
    Integer {
        least: i128,
        most: i128,
    },
    /// Any number.
    Number,
    /// A text, with bounds on its number of characters.
    Text {
        least: u64,
        most: u64,
    },
    /// One of these strings.
    Choice(Vec<String>),
    /// A list, with bounds on its number of items.
    List {
        item: Box<Self>,
        least: u64,
        most: u64,
    },
    /// Any other schema, which only the validator can check.
    Other,
}

/// Returns true if a schema is plain and certainly allows the value.
pub(crate) fn certainly_allows(schema: &Value, value: &Value) -> bool {
    kind(schema).certainly_takes(value)
}

impl Plain {
    /// Returns the plain form of the schema, if it has one.
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
            let bit = 1_u64.checked_shl(u32::try_from(place).ok()?)?;
            // A name that is repeated makes the schema invalid.
            if required & bit != 0 {
                return None;
            }
            required |= bit;
        }
        (properties.len() <= 64).then_some(Self { properties, required })
    }

    /// Returns true if nothing in the schema is left to the validator.
    pub(super) fn is_complete(&self) -> bool {
        self.properties.iter().all(|(_, kind)| !matches!(kind, Kind::Other))
    }

    /// Returns true if the arguments are certainly valid, and need no change before they are decoded. Other arguments
    /// may be valid too.
    pub(crate) fn certainly_takes(&self, arguments: &Map<String, Value>) -> bool {
        let (mut next, mut found) = (0, 0_u64);
        for (name, value) in arguments {
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
            // `5.0` is an integer too, and must be converted.
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

/// Returns true if a schema has keywords other than these and those without an effect.
fn has_others(schema: &Map<String, Value>, known: &[&str]) -> bool {
    schema.iter().any(|(key, value)| !known.contains(&key.as_str()) && !is_note(key, value))
}

/// Returns true if a keyword has no effect, and a value of the right type.
fn is_note(key: &str, value: &Value) -> bool {
    match key {
        "title" | "description" | "$comment" => value.is_string(),
        "default" => true,
        "examples" => value.is_array(),
        "deprecated" => value.is_boolean(),
        _ => false,
    }
}

fn lengths(schema: &Map<String, Value>, least: &str, most: &str) -> Option<(u64, u64)> {
    let bound = |key: &str, none| schema.get(key).map_or(Some(none), Value::as_u64);
    Some((bound(least, 0)?, bound(most, u64::MAX)?))
}

#[cfg(test)]
mod tests {
    use super::super::Validator;
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    /// Generates schemas of one property, some plain and some nearly plain.
    fn properties() -> impl Strategy<Value = Value> {
        let bound = prop_oneof![
            (-3_i64..4).prop_map(Value::from),
            proptest::sample::select(vec![
                json!(i64::MIN),
                json!(i64::MAX),
                json!(u64::MAX),
                json!(2.5),
                json!(2.0)
            ]),
        ];
        let length = prop_oneof![(0_u64..4).prop_map(Value::from), Just(json!(u64::MAX)), Just(json!(2.0))];
        let with = |kind: &'static str, keys: &'static [&'static str], values: BoxedStrategy<Value>| {
            proptest::sample::subsequence(keys, 0..=keys.len()).prop_flat_map(move |keys| {
                proptest::collection::vec(values.clone(), keys.len()).prop_map(move |values| {
                    let mut schema = json!({"type": kind, "description": "What it is.", "examples": []});
                    for (key, value) in keys.iter().zip(values) {
                        schema[*key] = if *key == "uniqueItems" { true.into() } else { value };
                    }
                    schema
                })
            })
        };
        let words = proptest::sample::subsequence(vec!["", "a", "äö", "\u{1F600}b"], 1..=4);
        let others = proptest::sample::select(vec![
            json!(true),
            json!({"type": "boolean"}),
            json!({"type": "boolean", "const": true}),
            json!({"type": "string", "pattern": "^a"}),
            json!({"type": ["integer", "null"]}),
            json!({"anyOf": [{"type": "integer"}, {"type": "string"}]}),
            json!({"type": "integer", "multipleOf": 2}),
            json!({"enum": [1, "a"]}),
            json!({"type": "string", "enum": ["a", 1]}),
        ]);
        let plain = prop_oneof![
            others,
            words.prop_map(|words| json!({"type": "string", "enum": words})),
            with("string", &["minLength", "maxLength"], length.clone().boxed()),
            with("integer", &["minimum", "maximum", "exclusiveMaximum"], bound.clone().boxed()),
            with("number", &["minimum", "maximum", "exclusiveMaximum"], bound.boxed()),
        ];
        let list = with("array", &["minItems", "maxItems", "uniqueItems"], length.boxed());
        prop_oneof![
            plain.clone(),
            (plain, list).prop_map(|(item, mut list)| {
                list["items"] = item;
                list
            })
        ]
    }

    /// Returns values at the limits of what the schemas allow.
    fn values() -> Vec<Value> {
        let mut values: Vec<Value> = (-4..5).map(Value::from).collect();
        values.extend([i64::MIN, i64::MAX, i64::MAX - 1].map(Value::from));
        values.extend([1 << 63, u64::MAX, u64::MAX - 1].map(Value::from));
        values.extend([2.0, 2.5, -0.0, 1e300].map(Value::from));
        values.extend(["", "a", "b", "äö", "\u{1F600}b", "e\u{301}é", "abcd"].map(Value::from));
        values.extend([json!(null), json!(true), json!(false), json!({})]);
        let lists: Vec<Value> = values
            .iter()
            .flat_map(|item| {
                [json!([item]), json!([item, item]), json!([item, 1]), json!([item, "a", "b", ""])]
            })
            .collect();
        values.extend(lists);
        values.push(json!([]));
        values
    }

    fn takes(plain: &Plain, arguments: &Value) -> bool {
        plain.certainly_takes(arguments.as_object().unwrap())
    }

    /// Checks that the validator accepts all arguments that the fast check accepts.
    fn check(schema: &Value, all: impl IntoIterator<Item = Value>) -> Result<(), TestCaseError> {
        let Some(plain) = Plain::of(schema) else { return Ok(()) };
        let validator = Validator::new(schema);
        prop_assert!(!plain.is_complete() || validator.as_ref().is_ok_and(Validator::is_own), "{schema}");
        let Ok(validator) = validator else { return Ok(()) };
        for arguments in all {
            let is_sound = !takes(&plain, &arguments) || validator.is_valid(&arguments);
            prop_assert!(is_sound, "{schema} {arguments}");
        }
        Ok(())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1_000))]

        #[test]
        fn what_it_takes_the_validator_takes(property in properties()) {
            let schema = json!({"type": "object", "properties": {"a": property}, "additionalProperties": false});
            check(&schema, values().into_iter().map(|value| json!({"a": value})))?;
        }

        #[test]
        fn names_are_known_and_complete(
            kinds in proptest::collection::vec(properties(), 0..4),
            required in any::<[bool; 4]>(),
            is_closed in proptest::bool::weighted(0.9),
            given in proptest::sample::subsequence(vec!["a", "b", "c", "d", "e"], 0..=4).prop_shuffle(),
            given_values in proptest::collection::vec(proptest::sample::select(values()), 4),
        ) {
            let names = ["a", "b", "c", "d"];
            let required: Vec<&str> = (0..kinds.len()).filter(|at| required[*at]).map(|at| names[at]).collect();
            let named: Map<String, Value> = names.iter().map(|name| (*name).to_owned()).zip(kinds).collect();
            let schema = json!({
                "type": "object", "properties": named, "required": required, "additionalProperties": !is_closed,
            });
            let arguments: Map<String, Value> = given.into_iter().map(str::to_owned).zip(given_values).collect();
            check(&schema, [arguments.into()])?;
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
        ] {
            assert_eq!(takes(&plain, &arguments), is_taken, "{arguments}");
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
