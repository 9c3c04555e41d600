use super::*;
use serde_json::json;
use toolkit_core::schema::Validator;

/// The combined schema accepts exactly the values that both accept, and is written as simply as possible.
#[test]
#[cfg_attr(not(feature = "json-schema"), ignore = "needs the feature json-schema: cargo xtask test")]
fn narrowing_takes_what_both_take() {
    let values = [
        json!(null),
        json!(true),
        json!(0),
        json!(5),
        json!(7),
        json!(20),
        json!(2.5),
        json!(""),
        json!("a"),
        json!("b"),
        json!("long text"),
        json!([]),
        json!([1]),
        json!([1, 2, 3]),
        json!({}),
        json!({"a": 1}),
        json!({"b": 1}),
    ];
    let schemas = [
        json!({}),
        json!(true),
        json!(false),
        json!({"type": "integer", "minimum": 1, "maximum": 10}),
        json!({"type": ["integer", "null"], "multipleOf": 5}),
        json!({"type": "string", "enum": ["a", "b"]}),
        json!({"enum": ["b", 5, null]}),
        json!({"enum": []}),
        json!({"const": "a"}),
        json!({"type": "string", "maxLength": 3}),
        json!({"type": "array", "items": {"type": "integer"}, "maxItems": 2}),
        json!({"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": false}),
        json!({"type": "object", "properties": {"b": {}}}),
        json!({"allOf": [{"type": "integer"}], "minimum": 2}),
        json!({"not": {"type": "string"}}),
        json!({"type": "object", "unevaluatedProperties": false}),
        json!({"properties": {"a": {}}, "unevaluatedProperties": false}),
        json!({"prefixItems": [{}], "unevaluatedItems": false}),
    ];
    let accepts = |schema: &Value, value: &Value| Validator::new(schema).unwrap().is_valid(value);
    for schema in &schemas {
        for also in &schemas {
            let mut both = schema.clone();
            narrow::narrow(&mut both, also);
            for value in &values {
                let expected = accepts(schema, value) && accepts(also, value);
                assert_eq!(accepts(&both, value), expected, "{schema} and {also} as {both} on {value}");
            }
        }
    }
}

#[test]
fn plain_demands_stay_plain() {
    for (schema, also, expected) in [
        (json!({"type": "string"}), json!({"enum": ["a"]}), json!({"type": "string", "enum": ["a"]})),
        (json!({"enum": ["a", "b"]}), json!({"enum": ["b", "c"]}), json!({"enum": ["b"]})),
        (json!({"maximum": 9}), json!({"maximum": 5}), json!({"maximum": 9, "allOf": [{"maximum": 5}]})),
        (json!({"type": "string"}), json!(true), json!({"type": "string"})),
        (
            json!({"allOf": [{}]}),
            json!({"properties": {"a": {}}}),
            json!({"allOf": [{}, {"properties": {"a": {}}}]}),
        ),
    ] {
        let mut both = schema.clone();
        narrow::narrow(&mut both, &also);
        assert_eq!(both, expected, "{schema} and {also}");
    }
}
