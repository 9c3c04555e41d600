//! Targets of references, and `null` where the target is not known.

use super::properties::hold_of;
use serde_json::{Value, json};
use toolkit::dialects::Dialect::{self, Anthropic, Gemini, OpenAiChat, OpenAiChatStrict};

/// A closed object in which `x` is optional.
fn optional(x: &Value) -> Value {
    json!({"type": "object", "properties": {"x": x}, "additionalProperties": false})
}

/// Returns the property `a` as it is written.
fn written(dialect: Dialect, schema: &Value) -> Value {
    dialect.schema(schema).schema["properties"]["a"].clone()
}

#[test]
fn what_refers_to_its_own_id_leads_nowhere() {
    let own = json!({"$id": "x", "$ref": "#/$defs/n", "$defs": {"n": {"type": "string"}}});
    let within = json!({"$id": "x", "allOf": [{"$ref": "#/$defs/n"}], "$defs": {"n": {"type": "string"}}});
    for part in [own, within] {
        let schema =
            json!({"type": "object", "properties": {"a": part}, "$defs": {"n": {"type": "integer"}}});
        hold_of(&schema, &[json!({"a": "text"})]);
        for dialect in [OpenAiChat, Anthropic, Gemini] {
            let said = dialect.schema(&schema);
            assert!(!said.schema.to_string().contains("integer"), "{dialect}: {}", said.schema);
            assert!(
                said.loosened.iter().any(|loss| loss.keyword == "$ref"),
                "{dialect}: {:?}",
                said.loosened
            );
        }
    }
    // The root's own is where references start anyway.
    let root = json!({"$id": "https://example.com/x", "type": "object", "properties": {"a": {"$ref": "#/$defs/n"}},
        "$defs": {"n": {"type": "integer"}}});
    assert_eq!(written(Anthropic, &root), json!({"type": "integer"}));
    // Up to draft 7 a name within the schema is none of another.
    let named = json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
        "properties": {"a": {"$id": "#a", "allOf": [{"$ref": "#/definitions/n"}]}}, "definitions": {"n": {"type": "integer"}}});
    assert_eq!(written(Anthropic, &named), json!({"allOf": [{"type": "integer"}]}));
}

#[test]
fn what_stands_under_no_keyword_is_read_by_its_draft() {
    let schema = json!({"$schema": "http://json-schema.org/draft-07/schema#", "type": "object",
        "properties": {"a": {"$ref": "#/components/X"}},
        "components": {"X": {"$ref": "#/definitions/S", "minLength": 5}, "Y": {"items": [{"$ref": "#/components/Z"}]},
            "Z": {"exclusiveMinimum": true, "minimum": 1}},
        "definitions": {"S": {"type": "string"}}});
    for dialect in [OpenAiChat, Anthropic, Gemini] {
        assert_eq!(written(dialect, &schema), json!({"type": "string"}), "{dialect}");
    }
    let mut tuple = schema;
    tuple["properties"]["a"]["$ref"] = "#/components/Y".into();
    assert_eq!(written(Anthropic, &tuple), json!({"prefixItems": [{"exclusiveMinimum": 1}]}));
    // The target is copied: the value itself does not change.
    let value = json!({"type": "object", "properties": {"a": {"const": {"type": "string"}}, "b": {"$ref": "#/properties/a/const"}}});
    assert_eq!(written(Anthropic, &value), json!({"const": {"type": "string"}}));
}

#[test]
fn what_may_be_null_for_all_that_is_known_is_not_strict() {
    let many = json!({"allOf": [{"allOf": vec![json!({}); 10_001]}, {"type": "string"}]});
    let strict = OpenAiChatStrict.schema(&optional(&many));
    let x = &strict.schema["properties"]["x"];
    assert!(strict.not_strict.is_some() || x["type"] == json!(["string", "null"]), "{}", strict.schema);
    let deep = (0..120).fold(json!({"type": "string"}), |inner, _| json!({"allOf": [inner]}));
    for x in [
        json!({"type": ["string", "null"], "allOf": [deep]}),
        json!({"type": ["string", "null"], "not": deep}),
        json!({"type": ["string", "null"], "$ref": "https://example.com/x"}),
    ] {
        let why = OpenAiChatStrict.schema(&optional(&x)).not_strict.unwrap();
        assert!(why.reason.contains("accepts `null`"), "{why}");
    }
}
