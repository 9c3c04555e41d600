//! Compares the validator of this crate with `jsonschema`: verdicts, and the texts of errors made from them.

mod random;

use super::build::{Document, Keyword};
use super::pattern::Pattern;
use super::*;
use crate::arguments::{self, Problem, Repairing};
use crate::schema::Compiled;
use random::{Random, near_miss, schema, value_of};
use serde_json::json;
use std::cell::Cell;

thread_local! {
    static PREFERS_FULL: Cell<bool> = const { Cell::new(false) };
}

/// Returns true if this thread leaves every schema to `jsonschema`.
pub(super) fn prefers_full() -> bool {
    PREFERS_FULL.get()
}

/// Runs a function with `jsonschema` as the only validator.
fn with_full<T>(run: impl FnOnce() -> T) -> T {
    PREFERS_FULL.set(true);
    let result = run();
    PREFERS_FULL.set(false);
    result
}

fn lines(problems: &[Problem]) -> Vec<String> {
    problems.iter().map(ToString::to_string).collect()
}

/// A verdict, the problems of the value as output, and what becomes of it as arguments, without repairs and with them.
type Outcome = (bool, Vec<String>, Vec<Result<String, Vec<String>>>);

/// Returns the verdict on a value as arguments and as output, with the texts of all problems and the repairs.
fn outcome(compiled: &Compiled, value: &Value) -> Outcome {
    let prepared = [Repairing::Off, Repairing::On].map(|repairing| {
        let prepared = arguments::prepare(compiled, value.clone().into(), repairing);
        prepared
            .map(|(arguments, repairs)| format!("{:?} {repairs:?}", arguments.members()))
            .map_err(|errors| lines(&errors.problems))
    });
    let output = lines(&arguments::check_output(compiled, value));
    (compiled.validator().is_valid(value), output, prepared.into())
}

/// Checks that both validators agree on values; returns the number of those that are valid.
fn check(schema: &Value, values: &[Value]) -> usize {
    assert!(Document::new(schema).is_ok(), "{schema} is not covered: {:?}", Document::new(schema).err());
    let own = Compiled::foreign("test", schema.clone());
    let full = with_full(|| Compiled::foreign("test", schema.clone()));
    let (own, full) = match (own, full) {
        (Ok(own), Ok(full)) => (own, full),
        (own, full) => {
            let (own, full) =
                (own.err().map(|error| error.to_string()), full.err().map(|error| error.to_string()));
            assert_eq!(own, full, "{schema}");
            return 0;
        }
    };
    let mut valid = 0;
    for value in values {
        let expected = with_full(|| outcome(&full, value));
        assert_eq!(outcome(&own, value), expected, "the schema {schema} and the value {value}");
        valid += usize::from(expected.0);
    }
    valid
}

#[test]
fn random_schemas_have_the_verdicts_and_texts_of_jsonschema() {
    let (mut valid, mut all) = (0, 0);
    for seed in 0..120 {
        let mut random = Random::new(seed);
        let schema = schema(&mut random);
        let values: Vec<Value> = (0..6)
            .map(|changes| {
                let mut value = value_of(&schema, &schema, &mut random, 0);
                (0..changes / 2).for_each(|_| near_miss(&mut value, &mut random));
                value
            })
            .collect();
        valid += check(&schema, &values);
        all += values.len();
    }
    // Neither verdict is rare.
    assert!(valid * 5 > all && valid * 5 < all * 4, "{valid} of {all}");
}

/// Schemas at the edges of the keywords, with values beside their limits.
#[test]
#[expect(clippy::too_many_lines, reason = "one table")]
fn keywords_have_the_verdicts_and_texts_of_jsonschema() {
    let numbers = json!([
        0,
        1,
        2,
        3,
        -1,
        2.0,
        2.5,
        -0.0,
        1e300,
        -1e300,
        1e19,
        u64::MAX,
        i64::MIN,
        i64::MAX,
        9_007_199_254_740_993_u64,
        9_007_199_254_740_992.0,
        "2",
        null,
        [],
        {}
    ]);
    let texts =
        json!(["", "a", "ab", "äö", "\u{1F600}b", "e\u{301}", "12", "-12", "a b", "a\n", 1, null, ["a"]]);
    let lists = json!([[], [1], [1, 1.0], [1, 2], [1, 2, 3], ["a", 1, null], [{"a": 1}, {"a": 1.0}], [[1], [1]], "a", {}]);
    let objects = json!([{}, {"a": 1}, {"b": 1}, {"a": "x", "b": 2}, {"a": 1, "b": 2, "c": 3}, {"1": 1, "-2": "x"},
        {"kind": "one"}, {"kind": "two", "a": 1}, {"kind": "tow"}, {"A": 1}, {"a": null}, {"a/b~c": 1}, [], null]);
    let named = json!({"a": {"type": "integer"}, "b": {"type": "string"}});
    for (values, schemas) in [
        (
            numbers,
            vec![
                json!({"type": "integer"}),
                json!({"type": "number"}),
                json!({"type": ["integer", "null"]}),
                json!({"minimum": 2}),
                json!({"minimum": 2.5}),
                json!({"maximum": 2}),
                json!({"exclusiveMinimum": 2}),
                json!({"exclusiveMaximum": 2.0}),
                json!({"maximum": u64::MAX}),
                json!({"minimum": i64::MIN}),
                json!({"minimum": 9_007_199_254_740_993_u64}),
                json!({"maximum": 9_007_199_254_740_992.0}),
                json!({"multipleOf": 2}),
                json!({"multipleOf": 3}),
                json!({"multipleOf": 1_u64 << 53}),
                json!({"const": 2}),
                json!({"const": 2.0}),
                json!({"enum": [2, 2.5]}),
                json!({"enum": [2]}),
                json!({"enum": []}),
                json!({"not": {"type": "integer"}}),
                json!({"not": {}}),
                json!(false),
                json!(true),
                json!({"if": {"type": "integer"}, "then": {"minimum": 2}, "else": {"type": "string"}}),
                json!({"if": {"type": "integer"}, "else": {"type": "string"}}),
                json!({"if": false, "then": false}),
                json!({"type": "integer", "minimum": 1, "maximum": 0, "multipleOf": 2, "enum": [7], "const": 8}),
            ],
        ),
        (
            texts,
            vec![
                json!({"minLength": 2}),
                json!({"maxLength": 1}),
                json!({"type": "string", "minLength": 1, "maxLength": 1}),
                json!({"pattern": "^a"}),
                json!({"pattern": "^a$"}),
                json!({"pattern": "^(a|b|ab)$"}),
                json!({"pattern": r"^\S*$"}),
                json!({"pattern": r"^\d+$"}),
                json!({"pattern": r"^(?!a).*$"}),
                json!({"pattern": r"^(.)\1$"}),
                json!({"pattern": "b"}),
                json!({"enum": ["a", "ab"]}),
                json!({"const": "a"}),
                json!({"oneOf": [{"const": "a"}, {"const": "ab"}]}),
                json!({"type": ["string", "null"], "format": "date"}),
                json!({"anyOf": [{"type": "string", "maxLength": 1}, {"type": "null"}]}),
            ],
        ),
        (
            lists,
            vec![
                json!({"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2, "enum": [[1]]}),
                json!({"items": {"type": "integer"}, "minItems": 3}),
                json!({"uniqueItems": true}),
                json!({"uniqueItems": false}),
                json!({"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "items": false, "minItems": 2}),
                json!({"prefixItems": [{"type": "string"}], "items": {"type": "integer"}}),
                json!({"contains": {"type": "string"}}),
                json!({"type": "array", "items": false}),
                json!({"type": "array", "items": {"type": "integer"}, "uniqueItems": true, "minItems": 2}),
                json!({"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "array", "items": {"type": "integer"}}]}),
            ],
        ),
        (
            objects,
            vec![
                json!({"properties": named, "required": ["a"], "additionalProperties": false}),
                json!({"properties": named, "required": ["b", "a"], "additionalProperties": false, "minProperties": 2}),
                json!({"properties": named, "required": ["b", "c"], "maxProperties": 1}),
                json!({"additionalProperties": false}),
                json!({"type": "object", "properties": named, "additionalProperties": {"type": "null"}}),
                json!({"additionalProperties": {"type": "integer"}}),
                json!({"properties": named, "additionalProperties": true}),
                json!({"patternProperties": {r"^-?\d+$": {"type": "integer"}}, "additionalProperties": false}),
                json!({"properties": named, "patternProperties": {"^a": {"minimum": 5}, "b": {"maxLength": 0}}, "additionalProperties": {"type": "null"}}),
                json!({"properties": named, "patternProperties": {"^a": {"minimum": 5}, "b": {"maxLength": 0}}}),
                json!({"propertyNames": {"maxLength": 1, "pattern": "^[a-c]$"}}),
                json!({"propertyNames": {"enum": ["a"]}}),
                json!({"properties": {"a/b~c": {"type": "string"}}}),
                json!({"enum": [{"a": 1.0}]}),
                json!({"const": {"b": 2, "a": "x"}}),
                json!({"allOf": [{"properties": {"a": {"type": "integer"}}, "required": ["a"]}, {"required": ["b"]}], "unevaluatedProperties": false}),
                json!({"anyOf": [{"properties": {"a": {"type": "integer"}}, "required": ["a"]}, {"properties": {"b": {}}, "required": ["b"]}],
                "unevaluatedProperties": {"type": "null"}}),
                json!({"oneOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}], "unevaluatedProperties": false}),
                json!({"if": {"properties": {"a": {"type": "integer"}}, "required": ["a"]}, "then": {"properties": {"b": {}}},
                "else": {"properties": {"c": {}}}, "unevaluatedProperties": false}),
                json!({"allOf": [{"properties": {"a": {}}, "unevaluatedProperties": {"type": "string"}}], "unevaluatedProperties": false}),
                json!({"patternProperties": {"^a": {}}, "unevaluatedProperties": false}),
                json!({"$ref": "#/$defs/one", "unevaluatedProperties": false, "$defs": {"one": {"properties": {"a": {"type": "integer"}}}}}),
            ],
        ),
    ] {
        for inner in schemas {
            let values = values.as_array().unwrap();
            let mut properties = json!({ "x": inner });
            // A reference leads to the root of its document.
            let definitions = properties["x"].as_object_mut().and_then(|inner| inner.shift_remove("$defs"));
            let mut root = json!({"type": "object", "properties": properties, "required": ["x"], "additionalProperties": false});
            if let Some(definitions) = definitions {
                root["$defs"] = definitions;
            }
            let given: Vec<Value> = values.iter().map(|value| json!({ "x": value })).collect();
            check(&root, &given);
            // As the root itself, for objects.
            if inner.is_object() && values.iter().any(Value::is_object) {
                check(&inner, values);
            }
        }
    }
}

#[test]
fn what_is_not_covered_is_named() {
    for (schema, expected) in [
        (
            json!({"properties": {"a": {"dependentRequired": {}}}}),
            "`dependentRequired` in /properties/a needs",
        ),
        (json!({"unevaluatedItems": false}), "`unevaluatedItems` in the root needs"),
        (json!({"$ref": "https://example.com"}), "`$ref`"),
        (json!({"$ref": "#/$defs/none"}), "`$ref`"),
        (json!({"$schema": "http://json-schema.org/draft-07/schema#"}), "`$schema`"),
        (json!({"properties": {"a": {"minLength": -1}}}), "`minLength` in /properties/a"),
        (json!({"$defs": {"a/b": {"type": "text"}}}), "`type` in /$defs/a~1b"),
        (json!({"items": [{}]}), "a schema that is not an object"),
        (json!({"pattern": "("}), "`pattern`"),
        (json!({"multipleOf": 0}), "`multipleOf`"),
        (json!({"multipleOf": 0.1}), "`multipleOf`"),
        (json!({"required": ["a", "a"]}), "`required`"),
        (json!({"type": ["string", "string"]}), "`type`"),
        (json!({"anyOf": []}), "`anyOf`"),
        (json!({"title": 5}), "`title`"),
        (json!({"then": 5}), "a schema that is not an object"),
        (json!({"$ref": "#"}), "`$ref` in the root"),
        (json!({"properties": {"a": {"anyOf": [{"$ref": "#/properties/a"}]}}}), "`$ref` in /properties/a"),
    ] {
        let uncovered = Document::new(&schema).err().expect("it is not covered").to_string();
        assert!(uncovered.contains(expected) && uncovered.contains("`json-schema`"), "{schema}: {uncovered}");
    }
    for schema in [
        json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "x-other": 5, "anything": []}),
        json!({"properties": {"dependentRequired": {"type": "string"}, "$id": true}}),
        json!({"properties": {"a": {"$ref": "#"}, "b": {"anyOf": [{"$ref": "#/$defs/c"}, {"$ref": "#/$defs/c"}]}}, "$defs": {"c": {}}}),
        json!({"$ref": "#/properties/a", "properties": {"a": {"properties": {"b": {"$ref": "#"}}}}}),
    ] {
        assert!(Document::new(&schema).is_ok(), "{schema}");
    }
}

/// Everything that the meta-schema refuses is left to the full validator.
#[test]
fn a_schema_that_is_not_valid_is_not_covered() {
    let mut refused = 0;
    for seed in 0..400 {
        let mut random = Random::new(seed);
        let mut schema = schema(&mut random);
        near_miss(&mut schema, &mut random);
        if full::Full::new(&schema).is_err() {
            refused += 1;
            assert!(Document::new(&schema).is_err(), "{schema}");
        }
    }
    assert!(refused > 20, "{refused}");
}

#[test]
fn a_search_that_is_given_up_allows_nothing() {
    let pattern = json!({"type": "string", "pattern": "^replaced below"});
    let value = json!({"x": "aabbccdd"});
    for schema in [pattern.clone(), json!({"not": pattern}), json!({"anyOf": [pattern, {"type": "string"}]})]
    {
        let root = json!({"type": "object", "properties": {"x": schema}});
        let mut document = Document::new(&root).expect("it is covered");
        for keyword in document.nodes.iter_mut().flat_map(|node| &mut node.keywords) {
            if let Keyword::Pattern(pattern) = keyword {
                let endless = fancy_regex::RegexBuilder::new(r"(.)\1e").backtrack_limit(1).build().unwrap();
                *pattern = Pattern::Regex(Box::new(endless));
            }
        }
        assert!(!document.is_valid(&value), "{root}");
        let found = document.violations(&value);
        assert_eq!(found.len(), 1, "{root}: {found:?}");
    }
}
