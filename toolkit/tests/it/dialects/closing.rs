//! Objects that are closed to what nothing looks at: never closed to what only the dialect does not look at.

use super::properties::hold_of;
use serde_json::{Map, Value, json};
use toolkit::dialects::Dialect::{self, Anthropic, Gemini, OpenAiChat, OpenAiChatStrict};

fn named(names: &[&str]) -> Value {
    names.iter().map(|name| ((*name).to_owned(), json!({"type": "string"}))).collect::<Map<_, _>>().into()
}

/// Variants with a property each, `p0` and on.
fn variants(key: &str, count: usize) -> Value {
    let variant = |number: usize| {
        json!({"type": "object", "properties": {format!("p{number}"): {"type": "string"}},
        "required": [format!("p{number}")]})
    };
    json!({"type": "object", "properties": named(&["a"]), key: (0..count).map(variant).collect::<Vec<_>>(), "unevaluatedProperties": false})
}

/// A schema at the root, and as that of a property.
fn both_places(schema: &Value, values: &[Value]) {
    hold_of(schema, values);
    let mut around = json!({"type": "object", "properties": {"x": schema}, "additionalProperties": false});
    if let Some(definitions) = schema.get("$defs") {
        around["$defs"] = definitions.clone();
    }
    let around_values: Vec<Value> = values.iter().map(|value| json!({"x": value})).collect();
    hold_of(&around, &around_values);
}

#[test]
fn what_was_lost_closes_nothing() {
    let circle = json!({"node": {"properties": {"deep": {"type": "string"}}, "allOf": [{"$ref": "#/$defs/node2"}]},
        "node2": {"properties": {"b": {"type": "string"}}, "if": {"properties": {"a": true}}, "then": {"properties": {"c": true}}}});
    for (schema, value) in [
        // Nobody knows what a reference to elsewhere looks at; a checker takes all that it does.
        (
            json!({"type": "object", "properties": named(&["a"]), "$ref": "#/$defs/some%20place", "unevaluatedProperties": false,
                "$defs": {"some place": {"properties": named(&["b"])}}}),
            json!({"a": "x", "b": "y"}),
        ),
        (
            json!({"type": "object", "properties": named(&["a"]), "$ref": "#here", "unevaluatedProperties": false,
                "$defs": {"h": {"$anchor": "here", "properties": named(&["b"])}}}),
            json!({"a": "x", "b": "y"}),
        ),
        (
            json!({"type": "object", "properties": named(&["a"]), "$dynamicRef": "#here", "unevaluatedProperties": false,
                "$defs": {"h": {"$dynamicAnchor": "here", "properties": named(&["b"])}}}),
            json!({"a": "x", "b": "y"}),
        ),
        (
            json!({"type": "object", "anyOf": [{"$ref": "#here"}, {"properties": named(&["a"])}], "unevaluatedProperties": false,
                "$defs": {"h": {"$anchor": "here", "properties": named(&["b"])}}}),
            json!({"a": "x", "b": "y"}),
        ),
        (
            json!({"type": "object", "$ref": "#/$defs/node", "properties": named(&["a"]), "unevaluatedProperties": false, "$defs": circle}),
            json!({"a": "x", "b": "y", "c": "z", "deep": "d"}),
        ),
        // A condition looks at what it names, whatever follows of it.
        (
            json!({"type": "object", "if": {"properties": {"a": true}}, "unevaluatedProperties": false}),
            json!({"a": "x"}),
        ),
    ] {
        both_places(&schema, &[value]);
    }
    // The fourth within another is one too many to be written out, and it is it that looks at `d`.
    let tower = json!({"type": "object", "$ref": "#/$defs/t", "unevaluatedProperties": false,
        "$defs": {"t": {"properties": {"a": {"$ref": "#/$defs/u"}}},
            "u": {"type": "object", "unevaluatedProperties": false, "allOf": [{"$ref": "#/$defs/v"}]},
            "v": {"properties": {"next": {"$ref": "#/$defs/u"}, "d": {"type": "string"}}}}});
    let mut value = json!({"d": "end"});
    for _ in 0..6 {
        value = json!({"next": value, "d": "x"});
        both_places(&tower, &[json!({ "a": value })]);
    }
}

#[test]
fn many_variants_close_nothing_that_is_not_written() {
    for key in ["anyOf", "oneOf"] {
        for count in [4, 64, 65, 1100] {
            let values =
                [json!({"a": "x", "p3": "y"}), json!({"p0": "y"}), json!({format!("p{}", count - 1): "z"})];
            both_places(&variants(key, count), &values);
        }
    }
}

#[test]
fn many_variants_at_the_root_name_their_properties() {
    for dialect in [OpenAiChat, Anthropic, Gemini, OpenAiChatStrict] {
        let said = dialect.schema(&variants("oneOf", 200)).schema;
        assert!(said["properties"]["p199"].is_object(), "{dialect}: {said}");
        assert_eq!(said["additionalProperties"], json!(false), "{dialect}");
    }
}

#[test]
fn closings_that_meet_let_in_what_either_looked_at() {
    for (schema, values) in [
        // The schema within looks at everything, so that nothing is left for the one around it.
        (
            json!({"type": "object", "unevaluatedProperties": false,
                "allOf": [{"properties": named(&["a"]), "unevaluatedProperties": {"type": "integer"}}]}),
            vec![json!({"a": "x", "z": 1})],
        ),
        (
            json!({"type": "object", "unevaluatedProperties": {"type": "string"}, "$ref": "#/$defs/open",
                "$defs": {"open": {"unevaluatedProperties": {"type": "integer"}}}}),
            vec![json!({"z": 1})],
        ),
        (
            json!({"type": "object", "unevaluatedProperties": false, "allOf": [{"unevaluatedProperties": true}, {"properties": named(&["a"])}]}),
            vec![json!({"a": "x", "z": 1})],
        ),
        (
            json!({"type": "object", "unevaluatedProperties": false,
                "anyOf": [{"properties": named(&["a"]), "unevaluatedProperties": {"type": "integer"}}, {"properties": named(&["b"])}]}),
            vec![json!({"a": "x", "z": 1}), json!({"b": "x"})],
        ),
        // Beside each other both count.
        (
            json!({"type": "object", "allOf": [
                {"unevaluatedProperties": {"type": "integer"}}, {"unevaluatedProperties": {"minimum": 3}}]}),
            vec![json!({"z": 3})],
        ),
        (
            json!({"type": "object", "allOf": [
                {"properties": named(&["a"]), "unevaluatedProperties": {"type": "string"}},
                {"properties": named(&["b"]), "unevaluatedProperties": {"minLength": 1}}]}),
            vec![json!({"a": "x", "b": "y", "c": "z"})],
        ),
    ] {
        both_places(&schema, &values);
    }
    // Where both count they are still said.
    let beside = json!({"type": "object", "properties": {"x": {"type": "object", "allOf": [
        {"properties": named(&["a"]), "unevaluatedProperties": false}, {"unevaluatedProperties": false, "properties": named(&["a"])}]}}});
    let said = Gemini.schema(&beside).schema;
    assert_eq!(said["properties"]["x"]["additionalProperties"], json!(false), "{said}");
    let whole = json!({"type": "object", "properties": {"x": {"type": "object", "$ref": "#/$defs/b", "unevaluatedProperties": false}},
        "$defs": {"b": {"properties": named(&["b"])}}});
    let said = Gemini.schema(&whole).schema;
    assert_eq!(said["properties"]["x"]["additionalProperties"], json!(false), "{said}");
}

#[test]
fn variants_at_the_root_take_what_any_of_them_does() {
    let text = json!({"type": "string"});
    let or_null = json!({"type": ["string", "null"]});
    for (schema, values) in [
        // A pattern speaks of a name that another variant has.
        (
            json!({"type": "object", "anyOf": [{"properties": {"ab": {"type": "integer"}}, "additionalProperties": false},
                {"patternProperties": {"^a": text}, "additionalProperties": false}]}),
            vec![json!({"ab": "x"}), json!({"ab": 1})],
        ),
        // Several variants fit at once, and each looks at something else.
        (
            json!({"type": "object", "anyOf": [{"properties": {"a": text}}, {"properties": {"b": text}}], "unevaluatedProperties": false}),
            vec![json!({"a": "x", "b": "y"})],
        ),
        // Absent is not `null` where one of them takes that and another does not, or counts what is there.
        (
            json!({"type": "object", "properties": {"b": or_null, "x": text}, "additionalProperties": false,
                "oneOf": [{"additionalProperties": {"type": "string"}}, {"properties": {"x": text}, "required": ["x"]}]}),
            vec![json!({})],
        ),
        (
            json!({"type": "object", "properties": {"b": or_null, "x": text}, "additionalProperties": false,
                "oneOf": [{"maxProperties": 1}, {"minProperties": 3}]}),
            vec![json!({"x": "y"})],
        ),
    ] {
        both_places(&schema, &values);
    }
}

#[test]
fn variants_of_one_definition_are_no_circle() {
    let base = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"], "additionalProperties": false});
    let variant = |number: usize| json!({"$ref": "#/$defs/base", "description": format!("The {number}.")});
    for key in ["anyOf", "oneOf", "allOf"] {
        let schema = json!({"type": "object", "properties": {"x": {key: (0..6).map(variant).collect::<Vec<_>>()}}, "required": ["x"],
            "additionalProperties": false, "$defs": {"base": base}});
        for dialect in [OpenAiChat, OpenAiChatStrict, Anthropic, Gemini] {
            let said = dialect.schema(&schema);
            let circles: Vec<_> = said.loosened.iter().filter(|loss| loss.keyword == "$ref").collect();
            assert!(
                circles.is_empty() && said.not_strict.is_none(),
                "{dialect} {key}: {circles:?} {:?}",
                said.not_strict
            );
        }
        let mut at_root = schema["properties"]["x"].clone();
        at_root["$defs"] = schema["$defs"].clone();
        let said = Gemini.schema(&at_root);
        assert!(said.loosened.iter().all(|loss| loss.keyword != "$ref"), "{key}: {:?}", said.loosened);
        assert_eq!(said.schema["additionalProperties"], json!(false), "{key}: {}", said.schema);
    }
}

#[test]
fn a_circle_through_variants_is_cut_as_any_is() {
    let tree = json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/node"}}, "additionalProperties": false,
        "$defs": {"node": {"anyOf": [{"type": "string"}, {"$ref": "#/$defs/pair"}]},
            "pair": {"type": "object", "properties": {"left": {"$ref": "#/$defs/node"}}, "required": ["left"], "additionalProperties": false}}});
    for dialect in [Gemini, Anthropic, OpenAiChat] {
        let said = dialect.schema(&tree).schema.to_string();
        assert_eq!(said.matches("\"left\":").count(), toolkit::dialects::MAX_RECURSION, "{dialect}: {said}");
    }
    let mut value = json!("leaf");
    for _ in 0..6 {
        value = json!({"left": value});
        hold_of(&tree, &[json!({ "a": value })]);
    }
    assert!(Dialect::OpenAiChatStrict.schema(&tree).not_strict.is_some());
}
