//! The explanations of validation errors.

use super::*;
use serde_json::json;

#[test]
fn as_many_are_told_as_anybody_mends() {
    let list = json!({"type": "array", "items": {"type": "integer"}});
    let schema = json!({"type": "object", "properties": {"list": list}, "additionalProperties": false});
    let compiled = Compiled::new("x", schema).unwrap();
    for (wrong, told, more) in
        [(1, 1, false), (19, 19, false), (20, 20, false), (21, 20, true), (99, 20, true)]
    {
        let found = find(&compiled, &json!({"list": vec!["no"; wrong]}));
        let problems = crate::arguments::InvalidArguments::of(found);
        assert_eq!((problems.problems.len(), problems.more), (told, more), "{wrong}");
        let names: serde_json::Map<String, Value> = (0..wrong).map(|n| (format!("n{n}"), json!(1))).collect();
        let problems = crate::arguments::InvalidArguments::of(find(&compiled, &names.into()));
        assert_eq!((problems.problems.len(), problems.more), (told, more), "{wrong}");
    }
}

#[test]
fn every_rule_is_explained() {
    for (schema, given, expected) in [
        (
            json!({"type": "array", "uniqueItems": true}),
            json!([1, 1]),
            "an array without repeated items, got the list [1,1]",
        ),
        (
            json!({"type": "object", "minProperties": 1}),
            json!({}),
            "an object of at least 1 entry, got an empty object",
        ),
        (
            json!({"type": "object", "maxProperties": 1}),
            json!({"a": 1, "b": 2}),
            r#"an object of at most 1 entry, got the object {"a":1,"b":2}"#,
        ),
        (
            json!({"type": "integer", "multipleOf": 5}),
            json!(7),
            "an integer that is a multiple of 5, got the number 7",
        ),
        (json!({"not": {"const": 1}}), json!(1), "a value that is not 1, got the number 1"),
        (
            json!({"type": "array", "contains": {"type": "string"}}),
            json!([1]),
            "an array with at least one item that is a string, got the list [1]",
        ),
        (json!(false), json!(1), "nothing, got the number 1"),
        (json!({"const": "a"}), json!(null), r#""a", got null"#),
        (json!({"type": "null"}), json!(1), "null, got the number 1"),
        (json!({"exclusiveMinimum": 1}), json!(1), "a value above 1, got the number 1"),
        (
            json!({"type": "integer", "minimum": i64::MIN, "maximum": i64::MAX}),
            json!(1e30),
            "an integer of at most 9223372036854775807, got the number 1e+30",
        ),
        (
            json!({"anyOf": [{"type": "object", "properties": {"a": {}}}, {"type": "object", "properties": {"b": {}}}]}),
            json!(1),
            "an object, got the number 1",
        ),
        (
            json!({"oneOf": [{"type": "number"}, {"type": "integer"}]}),
            json!(1),
            "a value that fits only one of the allowed forms, got the number 1",
        ),
        (
            json!({"type": "object", "oneOf": [{"required": ["a"]}]}),
            json!([]),
            "an object, got an empty list",
        ),
        (
            json!({"type": "object", "oneOf": [{"type": "object", "required": ["a"]}]}),
            json!([]),
            "an object, got an empty list",
        ),
    ] {
        let root = json!({"type": "object", "properties": {"x": schema}});
        let compiled = Compiled::new("test", root).unwrap();
        let found = find(&compiled, &json!({ "x": given }));
        let told: Vec<String> = found.iter().map(Problem::to_string).collect();
        assert_eq!(told, [format!("/x: expected {expected}")], "{schema}");
    }
}

#[test]
fn a_name_that_breaks_a_rule_is_named() {
    let compiled =
        Compiled::new("test", json!({"type": "object", "propertyNames": {"type": "string", "maxLength": 1}}));
    let found = find(&compiled.unwrap(), &json!({"ab": 1}));
    assert_eq!(
        found[0].to_string(),
        "/ab: expected a string of at most 1 character as a name, got the name `ab`"
    );
}

/// Returns the problems of `given`, one on each line.
fn told(schema: &Value, given: &Value) -> String {
    let compiled = Compiled::new("test", schema.clone()).unwrap();
    let told: Vec<String> = find(&compiled, given).iter().map(Problem::to_string).collect();
    told.join("\n")
}

#[test]
fn a_secret_of_an_optional_variant_is_not_repeated() {
    let one = json!({"type": "object", "required": ["kind", "pin"], "properties": {
        "kind": {"const": "one"},
        "pin": {"type": "integer", "x-toolkit-secret": true},
        "word": {"enum": ["hunter_two"], "x-toolkit-secret": true},
        "mode": {"enum": ["slow", "fast"]},
    }});
    let two = json!({"type": "object", "required": ["kind"], "properties": {"kind": {"const": "two"}}});
    let schema = json!({
        "type": "object",
        "properties": {"name": {"type": "string"}},
        "anyOf": [{"oneOf": [one, two]}, {}],
        "unevaluatedProperties": false,
    });
    for (given, expected) in [
        (json!({"kind": "one", "pin": 1}), ""),
        (json!({"kind": "one", "pin": "4242"}), "/pin: expected an integer, got a value that is kept secret"),
        (json!({"kind": "one"}), "/pin: expected an integer (required), got nothing"),
        (
            json!({"kind": "one", "pin": 1, "word": "hunter_twp"}),
            r#"/word: expected "hunter_two", got a value that is kept secret"#,
        ),
        (
            json!({"kind": "one", "pin": 1, "mode": "slwo"}),
            r#"/mode: expected one of "slow", "fast", got the string "slwo"; did you mean `slow`?"#,
        ),
        (
            json!({"kind": "oen", "pin": 1}),
            r#"/kind: expected one of "one", "two", got the string "oen"; did you mean `one`?"#,
        ),
    ] {
        assert_eq!(told(&schema, &given), expected, "{given}");
    }
}

#[test]
fn a_tag_that_is_a_secret_is_not_repeated() {
    let tag = |tag: &str| {
        json!({"type": "object", "required": ["kind"], "properties": {
            "kind": {"const": tag, "x-toolkit-secret": true}, "other": {},
        }})
    };
    let schema = json!({"type": "object", "oneOf": [tag("one"), tag("two")]});
    for (given, expected) in [
        (json!({"kind": "oen"}), r#"/kind: expected one of "one", "two", got a value that is kept secret"#),
        (json!({"other": "one"}), r#"/kind: expected one of "one", "two" (required), got nothing"#),
    ] {
        assert_eq!(told(&schema, &given), expected, "{given}");
    }
}

#[test]
fn two_variants_that_both_fit_are_refused() {
    let variant = |name: &str| json!({"type": "object", "required": ["kind"], "properties": {"kind": {"const": "a"}, name: {}}});
    let schema = json!({
        "type": "object",
        "anyOf": [{"oneOf": [variant("x"), variant("y")]}, {}],
        "unevaluatedProperties": false,
    });
    assert!(!told(&schema, &json!({"kind": "a"})).is_empty());
}
