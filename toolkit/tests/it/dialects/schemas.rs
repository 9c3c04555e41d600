//! How each part of a schema is said in each dialect.

use serde_json::{Value, json};
use toolkit::dialects::Dialect::{self, Anthropic, Gemini, OpenAiChat, OpenAiChatStrict};

/// An object with one required property `a`.
fn closed(property: &Value) -> Value {
    json!({"type": "object", "properties": {"a": property}, "required": ["a"], "additionalProperties": false})
}

/// Returns a property as it is written, and its lost keywords.
fn said(dialect: Dialect, property: &Value) -> (Value, Vec<String>) {
    let said = dialect.schema(&closed(property));
    assert_eq!(said.not_strict, None, "{property}");
    let lost = said
        .loosened
        .iter()
        .map(|loss| format!("{}#{}", loss.pointer.trim_start_matches("/properties/a"), loss.keyword));
    (said.schema["properties"]["a"].clone(), lost.collect())
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table, with a row for each part")]
fn each_part_is_said_as_the_dialect_can() {
    let text = json!({"type": "string"});
    let cases = [
        // Noise goes, what is said stays or goes into words.
        (
            OpenAiChat,
            json!({"type": "string", "title": "T", "$comment": "c", "default": "a"}),
            json!({"type": "string", "default": "a"}),
            vec![],
        ),
        (
            OpenAiChatStrict,
            json!({"type": "string", "title": "T", "default": "a"}),
            json!({"description": "Default: \"a\".", "type": "string"}),
            vec![],
        ),
        (
            Gemini,
            json!({"type": "string", "description": "It.", "examples": ["x"]}),
            json!({"description": "It. For example \"x\".", "type": "string"}),
            vec![],
        ),
        // Texts.
        (
            Anthropic,
            json!({"type": "string", "minLength": 1, "pattern": "^a(?!b)"}),
            json!({"type": "string", "minLength": 1, "pattern": "^a(?!b)"}),
            vec![],
        ),
        (
            OpenAiChatStrict,
            json!({"type": "string", "minLength": 1, "pattern": "^a"}),
            json!({"description": "At least 1 character.", "type": "string", "pattern": "^a"}),
            vec!["#minLength"],
        ),
        (
            OpenAiChatStrict,
            json!({"type": "string", "pattern": "^a(?!b)"}),
            json!({"description": "Matches the regular expression `^a(?!b)`.", "type": "string"}),
            vec!["#pattern"],
        ),
        (
            OpenAiChatStrict,
            json!({"type": "string", "format": "email"}),
            json!({"type": "string", "format": "email"}),
            vec![],
        ),
        (
            Gemini,
            json!({"type": "string", "format": "email"}),
            json!({"description": "Format: email.", "type": "string"}),
            vec!["#format"],
        ),
        // Numbers.
        (
            Gemini,
            json!({"type": "integer", "exclusiveMinimum": 0}),
            json!({"type": "integer", "minimum": 1}),
            vec![],
        ),
        (
            Gemini,
            json!({"type": "number", "exclusiveMinimum": 0}),
            json!({"description": "Greater than 0.", "type": "number", "minimum": 0}),
            vec!["#exclusiveMinimum"],
        ),
        (
            OpenAiChatStrict,
            json!({"type": "number", "exclusiveMinimum": 0, "multipleOf": 2}),
            json!({"type": "number", "exclusiveMinimum": 0, "multipleOf": 2}),
            vec![],
        ),
        // Constants and enums.
        (OpenAiChatStrict, json!({"const": "x"}), json!({"type": "string", "enum": ["x"]}), vec![]),
        (Anthropic, json!({"const": "x"}), json!({"const": "x"}), vec![]),
        (Gemini, json!({"enum": [1, 2]}), json!({"type": "integer", "enum": [1, 2]}), vec![]),
        (
            Gemini,
            json!({"enum": ["a", null]}),
            json!({"anyOf": [{"type": "string", "enum": ["a"]}, {"type": "null"}]}),
            vec![],
        ),
        (
            Gemini,
            json!({"enum": [true]}),
            json!({"description": "One of true.", "type": "boolean"}),
            vec!["#enum"],
        ),
        (
            OpenAiChatStrict,
            json!({"type": "string", "enum": ["a", 1]}),
            json!({"type": "string", "enum": ["a"]}),
            vec![],
        ),
        (
            OpenAiChatStrict,
            json!({"const": {"k": [1]}}),
            json!({"type": "object", "properties": {"k": {"type": "array", "minItems": 1, "maxItems": 1, "items": {"type": "integer", "enum": [1]}}}, "required": ["k"], "additionalProperties": false}),
            vec!["#prefixItems"],
        ),
        // A keyword that is lost within a `not` would make it refuse more.
        (
            Anthropic,
            json!({"type": "object", "not": {"properties": {"two words": {"const": 1}}}}),
            json!({"type": "object"}),
            vec!["#not"],
        ),
        // Null.
        (OpenAiChatStrict, json!({"type": ["string", "null"]}), json!({"type": ["string", "null"]}), vec![]),
        (Gemini, json!({"anyOf": [text, {"type": "null"}]}), json!({"type": ["string", "null"]}), vec![]),
        // Unions.
        (
            OpenAiChatStrict,
            json!({"type": ["string", "integer"], "minimum": 1}),
            json!({"anyOf": [text, {"type": "integer", "minimum": 1}]}),
            vec![],
        ),
        (
            OpenAiChat,
            json!({"oneOf": [text, {"type": "integer"}]}),
            json!({"anyOf": [text, {"type": "integer"}]}),
            vec![],
        ),
        (
            OpenAiChat,
            json!({"oneOf": [text, {"type": "string", "maxLength": 3}]}),
            json!({"anyOf": [text, {"type": "string", "maxLength": 3}]}),
            vec!["#oneOf"],
        ),
        (
            Anthropic,
            json!({"oneOf": [text, {"type": "string", "maxLength": 3}]}),
            json!({"oneOf": [text, {"type": "string", "maxLength": 3}]}),
            vec![],
        ),
        (
            OpenAiChatStrict,
            json!({"type": "integer", "anyOf": [{"minimum": 5}, {"maximum": 1}]}),
            json!({"anyOf": [{"type": "integer", "minimum": 5}, {"type": "integer", "maximum": 1}]}),
            vec![],
        ),
        (
            OpenAiChatStrict,
            json!({"allOf": [{"type": "integer", "minimum": 1}, {"minimum": 3, "maximum": 9}]}),
            json!({"type": "integer", "minimum": 3, "maximum": 9}),
            vec![],
        ),
        (
            OpenAiChatStrict,
            json!({"allOf": [{"type": "number"}, {"type": "integer"}]}),
            json!({"type": "integer"}),
            vec![],
        ),
        // Lists.
        (OpenAiChat, json!({"type": "array"}), json!({"type": "array", "items": {}}), vec![]),
        (
            OpenAiChatStrict,
            json!({"type": "array", "items": text, "minItems": 1, "uniqueItems": true}),
            json!({"description": "No item twice.", "type": "array", "minItems": 1, "items": text}),
            vec!["#uniqueItems"],
        ),
        (
            OpenAiChatStrict,
            json!({"type": "array", "prefixItems": [text, {"type": "integer"}], "items": false}),
            json!({"type": "array", "maxItems": 2, "items": {"anyOf": [text, {"type": "integer"}]}}),
            vec!["#prefixItems"],
        ),
        (
            Gemini,
            json!({"type": "array", "prefixItems": [text], "items": false}),
            json!({"type": "array", "maxItems": 1, "prefixItems": [text]}),
            vec![],
        ),
        // Objects.
        (
            Gemini,
            json!({"type": "object", "additionalProperties": text}),
            json!({"type": "object", "additionalProperties": text}),
            vec![],
        ),
        (
            Gemini,
            json!({"type": "object", "patternProperties": {"^a": text}, "additionalProperties": false}),
            json!({"type": "object", "additionalProperties": text}),
            vec!["#patternProperties"],
        ),
        (
            Gemini,
            json!({"type": "object", "required": ["x"]}),
            json!({"type": "object", "properties": {"x": {}}, "required": ["x"]}),
            vec![],
        ),
        (
            Anthropic,
            json!({"type": "object", "properties": {"two words": text, "b": text}, "required": ["two words", "b"], "additionalProperties": false}),
            json!({"description": "It also takes \"two words\".", "type": "object", "properties": {"b": text}, "required": ["b"], "additionalProperties": true}),
            vec!["/properties/two words#properties"],
        ),
        (
            OpenAiChatStrict,
            json!({"type": "object", "properties": {}, "additionalProperties": false}),
            json!({"type": "object", "properties": {}, "required": [], "additionalProperties": false}),
            vec![],
        ),
        (
            OpenAiChatStrict,
            json!({"type": "object", "properties": {"x": text, "y": text}, "dependentRequired": {"x": ["y"]}, "additionalProperties": false}),
            json!({"description": "`x` needs `y`.", "type": "object", "properties": {"x": {"type": ["string", "null"]}, "y": {"type": ["string", "null"]}}, "required": ["x", "y"], "additionalProperties": false}),
            vec!["#dependentRequired"],
        ),
        // Keywords that look at values in other ways.
        (
            Anthropic,
            json!({"type": "string", "not": {"const": "x"}}),
            json!({"type": "string", "not": {"const": "x"}}),
            vec![],
        ),
        (Gemini, json!({"type": "string", "not": {"const": "x"}}), json!({"type": "string"}), vec!["#not"]),
        (
            OpenAiChat,
            json!({"type": "string", "not": {"oneOf": [{"minLength": 3}, {"maxLength": 1}]}}),
            json!({"type": "string"}),
            vec!["#not"],
        ),
        (
            OpenAiChatStrict,
            json!({"type": "string", "if": {"minLength": 1}, "then": {"pattern": "^a"}}),
            json!({"type": "string"}),
            vec!["#if"],
        ),
        // Values that both lists have, however they are spelt.
        (
            Gemini,
            json!({"allOf": [{"enum": [1, 2, 3]}, {"enum": [2.0, 3, 4]}]}),
            json!({"type": "integer", "enum": [2, 3]}),
            vec![],
        ),
        // Names by patterns that look around, of which nobody makes a grammar.
        (
            OpenAiChat,
            json!({"type": "object", "patternProperties": {"^(?!x)": text}, "additionalProperties": false}),
            json!({"type": "object"}),
            vec!["#patternProperties"],
        ),
        (
            OpenAiChat,
            json!({"type": "object", "patternProperties": {"^(?:x|y)": text}, "additionalProperties": false}),
            json!({"type": "object", "patternProperties": {"^(?:x|y)": text}, "additionalProperties": false}),
            vec![],
        ),
        (
            Anthropic,
            json!({"type": "object", "patternProperties": {"(?<=x)y": text}, "additionalProperties": false}),
            json!({"type": "object", "patternProperties": {"(?<=x)y": text}, "additionalProperties": false}),
            vec![],
        ),
        (OpenAiChat, json!(true), json!({}), vec![]),
        (Gemini, json!(true), json!({}), vec![]),
    ];
    for (dialect, property, expected, lost) in cases {
        let (schema, losses) = said(dialect, &property);
        assert_eq!(schema, expected, "{dialect}: {property}");
        assert_eq!(losses, lost, "{dialect}: {property}");
    }
}

#[test]
fn the_longest_name_is_the_providers() {
    let (longest, longer) = ("x".repeat(64), "x".repeat(65));
    let schema =
        json!({"type": "object", "properties": {&longest: {}, &longer: {}}, "additionalProperties": false});
    let said = Anthropic.schema(&schema).schema;
    assert!(said["properties"][&longest].is_object() && said["properties"][&longer].is_null(), "{said}");
    assert_eq!(said["additionalProperties"], json!(true));
}

#[test]
fn references_are_replaced_and_circles_cut() {
    let tree = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/node", "description": "The root."}}, "additionalProperties": false,
        "$defs": {"node": {"type": "object", "description": "A node.", "properties": {"next": {"$ref": "#/$defs/node"}}, "additionalProperties": false}}});
    let said = Anthropic.schema(&tree);
    let mut node = &said.schema["properties"]["a"];
    assert_eq!(node["description"], "The root.");
    for _ in 1..toolkit::dialects::MAX_RECURSION {
        node = &node["properties"]["next"];
        assert_eq!(node["description"], "A node.");
    }
    assert_eq!(node["properties"]["next"], json!({}));
    assert_eq!(said.loosened.len(), 1);
    assert_eq!(said.loosened[0].pointer, "/$defs/node/properties/next");
    let strict = OpenAiChatStrict.schema(&tree);
    assert!(strict.not_strict.is_some(), "{strict:?}");
    assert_eq!(strict.schema, OpenAiChat.schema(&tree).schema);
}

#[test]
fn a_root_of_variants_is_one_object() {
    let variants = json!({"type": "object", "oneOf": [
        {"properties": {"kind": {"const": "a"}, "x": {"type": "string"}}, "required": ["kind", "x"]},
        {"properties": {"kind": {"const": "b"}, "y": {"type": "integer"}}, "required": ["kind"]},
    ], "unevaluatedProperties": false});
    for dialect in [OpenAiChat, Anthropic, Gemini] {
        let said = dialect.schema(&variants);
        assert_eq!(
            said.schema,
            json!({"description": "The arguments are one of: {kind: \"a\", x}; {kind: \"b\", y?}.", "type": "object",
                "properties": {"kind": {"enum": ["a", "b"], "type": "string"}, "x": {"type": "string"}, "y": {"type": "integer"}},
                "required": ["kind"], "additionalProperties": false}),
            "{dialect}"
        );
        assert_eq!(said.loosened[0].keyword, "oneOf");
    }
    let strict = OpenAiChatStrict.schema(&variants);
    assert_eq!(strict.not_strict, None);
    assert_eq!(strict.schema["required"], json!(["kind", "x", "y"]));
    assert_eq!(strict.schema["properties"]["x"], json!({"type": ["string", "null"]}));
}

#[test]
fn a_root_of_open_variants_has_the_properties_of_all_with_their_types_and_bounds() {
    let text = json!({"type": "string", "maxLength": 5, "description": "A name."});
    let number = json!({"type": "integer", "minimum": 1, "maximum": 9, "description": "A count."});
    let variants = json!([
        {"properties": {"a": text}, "required": ["a"]},
        {"properties": {"b": number}, "required": ["b"], "additionalProperties": true},
        {"required": ["z"]},
    ]);
    let all = json!([{"properties": {"a": text}, "required": ["a"]}, {"properties": {"b": number}}]);
    let alternatives = "The arguments are one of: {a}; {b}; {z}.";
    for (own, sentence) in [
        (json!({"type": "object", "anyOf": variants}), Some(alternatives)),
        (json!({"type": "object", "oneOf": variants}), Some(alternatives)),
        (
            json!({"type": "object", "anyOf": [{"$ref": "#/$defs/v"}, {"properties": {"b": number}, "required": ["b"]}],
            "$defs": {"v": {"properties": {"a": text}, "required": ["a"]}}}),
            Some("{a}; {b}."),
        ),
        (
            json!({"type": "object", "properties": {"a": text, "b": number}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}),
            Some("{a, b?}; {a?, b}."),
        ),
        (json!({"type": "object", "allOf": all}), None),
    ] {
        for dialect in Dialect::ALL {
            let schema = dialect.schema(&own).schema;
            for (name, expected) in [("a", &text), ("b", &number)] {
                let property = &schema["properties"][name];
                let described = property["description"].as_str().unwrap_or_default();
                assert!(
                    described.starts_with(expected["description"].as_str().unwrap()),
                    "{dialect} {schema}"
                );
                assert_eq!(property["type"], expected["type"], "{dialect} {schema}");
                for (bound, words) in [
                    ("maxLength", "At most 5 characters."),
                    ("minimum", "At least 1."),
                    ("maximum", "At most 9."),
                ] {
                    let is_said = property.get(bound) == expected.get(bound) || described.contains(words);
                    assert!(is_said || expected.get(bound).is_none(), "{dialect} {bound} {schema}");
                }
            }
            let said = schema["description"].as_str().unwrap_or_default();
            assert_eq!(sentence.is_some(), said.contains("The arguments are one of"), "{dialect} {schema}");
            assert!(said.contains(sentence.unwrap_or_default()), "{dialect} {schema}");
        }
    }
    let variants: Vec<Value> = (0..15)
        .map(|number| json!({"properties": {format!("p{number}"): {"type": "string"}}, "required": [format!("p{number}")]}))
        .collect();
    let many = Anthropic.schema(&json!({"type": "object", "anyOf": variants})).schema;
    assert!(many["description"].as_str().unwrap().ends_with("{p11}; 3 more."), "{many}");
    assert_eq!(many["properties"]["p14"], json!({"type": "string"}));
}

#[test]
fn what_cannot_be_strict_is_said_plainly_and_why() {
    let deep = (0..11).fold(json!({"type": "string"}), |inner, _| json!({"type": "array", "items": inner}));
    let wide: serde_json::Map<String, Value> =
        (0..5001).map(|number| (format!("p{number}"), json!({"type": "string"}))).collect();
    for (property, pointer, part) in [
        (json!({}), "/properties/a", "any type"),
        (json!({"properties": {}}), "/properties/a", "any type"),
        (json!({"type": "object"}), "/properties/a", "close it"),
        (json!({"type": "object", "additionalProperties": {"type": "string"}}), "/properties/a", "close it"),
        (json!({"type": "array"}), "/properties/a", "any type"),
        (
            json!({"type": "object", "properties": {"x": {"type": ["string", "null"]}}, "maxProperties": 1, "additionalProperties": false}),
            "/properties/a",
            "may be absent or `null`",
        ),
        (deep, "", "levels"),
        (json!({"type": "object", "properties": wide, "additionalProperties": false}), "", "5002 properties"),
    ] {
        let schema = closed(&property);
        let said = OpenAiChatStrict.schema(&schema);
        let why = said.not_strict.unwrap();
        if !pointer.is_empty() {
            assert_eq!(why.pointer, pointer, "{property}");
        }
        assert!(why.reason.contains(part), "{why}");
        assert_eq!(said.schema, OpenAiChat.schema(&schema).schema);
    }
}

#[test]
fn older_drafts_are_understood() {
    for (draft, property, expected) in [
        (
            "http://json-schema.org/draft-07/schema#",
            json!({"$ref": "#/definitions/n", "maximum": 1}),
            json!({"type": "integer"}),
        ),
        (
            "http://json-schema.org/draft-07/schema#",
            json!({"type": "array", "items": [{"type": "string"}], "additionalItems": false}),
            json!({"type": "array", "maxItems": 1, "prefixItems": [{"type": "string"}]}),
        ),
        (
            "http://json-schema.org/draft-04/schema#",
            json!({"type": "integer", "minimum": 1, "exclusiveMinimum": true}),
            json!({"type": "integer", "minimum": 2}),
        ),
        (
            "http://json-schema.org/draft-04/schema#",
            json!({"type": "string", "const": "x"}),
            json!({"type": "string"}),
        ),
        (
            "https://json-schema.org/draft/2020-12/schema",
            json!({"$ref": "#/definitions/n", "maximum": 1}),
            json!({"type": "integer", "maximum": 1}),
        ),
    ] {
        let mut schema = closed(&property);
        schema["$schema"] = draft.into();
        schema["definitions"] = json!({"n": {"type": "integer"}});
        assert_eq!(Gemini.schema(&schema).schema["properties"]["a"], expected, "{draft} {property}");
    }
}
