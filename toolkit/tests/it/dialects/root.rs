//! The root of a schema with variants, in each dialect: one object that takes whatever the tool takes.

#![expect(clippy::drop_non_drop, reason = "the functions take their arguments, and are never called")]

use super::properties::{definition, hold_of};
use super::subset;
use serde_json::{Value, json};
use toolkit::dialects::Dialect;
use toolkit::prelude::*;
use toolkit::tool_ref;

/// A shape, tagged by a property.
#[toolkit::args]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Tagged {
    /// A circle.
    Circle { radius: f64 },
    /// A rectangle, with a width of another type.
    Rectangle { width: u32, height: Option<u32> },
    /// Of nothing.
    Point,
}

/// A shape, tagged by the name of a property.
#[toolkit::args]
#[serde(rename_all = "snake_case")]
enum External {
    /// A circle.
    Circle { radius: f64 },
    /// A number.
    Dot(u32),
}

/// A shape, with its content in a property.
#[toolkit::args]
#[serde(tag = "kind", content = "of", rename_all = "snake_case")]
enum Adjacent {
    /// A circle.
    Circle { radius: f64 },
    /// A number.
    Dot(u32),
    /// Of nothing.
    Point,
}

/// A shape without a tag.
#[toolkit::args]
#[serde(untagged)]
enum Untagged {
    /// A circle.
    Circle { radius: f64 },
    /// A rectangle.
    Rectangle { width: u32, height: u32 },
}

/// A drawing: variants within variants.
#[toolkit::args]
#[serde(tag = "what", rename_all = "snake_case")]
enum Nested {
    /// One shape.
    One(Tagged),
    /// Two shapes.
    Two { first: Tagged, second: Option<External> },
}

/// A struct around variants.
#[toolkit::args]
struct Flattened {
    /// Its name.
    name: String,
    #[serde(flatten)]
    shape: Tagged,
}

/// A struct around variants that may be absent.
#[toolkit::args]
struct PerhapsFlattened {
    /// Its name.
    name: String,
    #[serde(flatten)]
    shape: Option<Tagged>,
}

/// Draws.
#[tool(read_only)]
fn tagged(#[args] shape: Tagged) {
    drop(shape);
}

/// Draws.
#[tool(read_only)]
fn external(#[args] shape: External) {
    drop(shape);
}

/// Draws.
#[tool(read_only)]
fn adjacent(#[args] shape: Adjacent) {
    drop(shape);
}

/// Draws.
#[tool(read_only)]
fn untagged(#[args] shape: Untagged) {
    drop(shape);
}

/// Draws.
#[tool(read_only)]
fn nested(#[args] shape: Nested) {
    drop(shape);
}

/// Draws.
#[tool(read_only)]
fn flattened(#[args] shape: Flattened) {
    drop(shape);
}

/// Draws.
#[tool(read_only)]
fn perhaps_flattened(#[args] shape: PerhapsFlattened) {
    drop(shape);
}

#[test]
fn variants_of_a_type_are_one_object_at_the_root() {
    let circle = json!({"kind": "circle", "radius": 1.5});
    let rectangle = json!({"kind": "rectangle", "width": 2, "height": 3});
    for (tool, values) in [
        (tool_ref!(tagged), vec![circle.clone(), rectangle.clone(), json!({"kind": "point"})]),
        (tool_ref!(external), vec![json!({"circle": {"radius": 1}}), json!({"dot": 4})]),
        (
            tool_ref!(adjacent),
            vec![
                json!({"kind": "circle", "of": {"radius": 1}}),
                json!({"kind": "dot", "of": 4}),
                json!({"kind": "point"}),
            ],
        ),
        (tool_ref!(untagged), vec![json!({"radius": 1}), json!({"width": 1, "height": 2})]),
        (
            tool_ref!(nested),
            vec![
                json!({"what": "one", "kind": "circle", "radius": 1}),
                json!({"what": "two", "first": circle, "second": {"dot": 1}}),
                json!({"what": "two", "first": rectangle}),
            ],
        ),
        (
            tool_ref!(flattened),
            vec![json!({"name": "a", "kind": "circle", "radius": 1}), json!({"name": "b", "kind": "point"})],
        ),
        (
            tool_ref!(perhaps_flattened),
            vec![json!({"name": "a", "kind": "circle", "radius": 1}), json!({"name": "b"})],
        ),
    ] {
        let own = tool.input_schema().unwrap();
        for value in &values {
            // Each value is one that the tool takes.
            hold_of(own, std::slice::from_ref(value));
        }
    }
}

#[test]
fn a_foreign_root_becomes_one_object_for_clients_of_mcp() {
    let text = json!({"type": "string", "maxLength": 5});
    let object = json!({"type": "object", "properties": {"a": text}, "required": ["a"]});
    let other = json!({"properties": {"b": {"type": "integer"}}, "required": ["b"]});
    let (a, b, both) = (json!({"a": "x"}), json!({"b": 1}), json!({"a": "x", "b": 1}));
    for (own, values) in [
        (json!({"anyOf": [object, other]}), vec![&a, &b, &both]),
        (json!({"oneOf": [object, other]}), vec![&a, &b]),
        (json!({"allOf": [object, other]}), vec![&both]),
        (json!({"allOf": [object, {"anyOf": [other, {"properties": {"c": true}}]}]}), vec![&a, &both]),
        (json!({"$ref": "#/$defs/x", "$defs": {"x": object}}), vec![&a]),
        (json!({"$ref": "#/$defs/x", "$defs": {"x": {"anyOf": [object, other]}}}), vec![&a, &b]),
        (json!({"$ref": "#/$defs/none"}), vec![]),
        (json!({"$dynamicRef": "#x", "$defs": {"x": {"$dynamicAnchor": "x", "type": "object"}}}), vec![&a]),
        (json!({"type": ["object", "null"], "properties": {"a": text}}), vec![&a, &b]),
        (json!({"properties": {"a": text}}), vec![&a, &b]),
        (json!({"type": "object"}), vec![&a, &b]),
        (json!({"type": "object", "not": {"required": ["a"]}}), vec![&b]),
        (json!({"anyOf": []}), vec![]),
        (json!({"anyOf": [false, object]}), vec![&a]),
        (json!({"anyOf": [{"type": "string"}, object]}), vec![&a]),
        (json!({}), vec![&a, &b]),
        (json!(true), vec![&a]),
        (json!(false), vec![]),
    ] {
        let written = Dialect::Mcp.schema(&own).schema;
        assert_eq!(subset::fault(Dialect::Mcp, &written, false), None, "{own}: {written}");
        assert!(written.get("allOf").is_none(), "{own}: {written}");
        for value in values {
            hold_of(&own, std::slice::from_ref(value));
        }
        let shown = Dialect::Mcp.definitions([definition("t", &own)]).to_json();
        assert_eq!(shown[0]["inputSchema"], written, "{own}");
    }
}

#[test]
fn a_schema_of_one_object_keeps_its_references_for_clients_of_mcp() {
    let own = json!({"type": "object", "properties": {"next": {"$ref": "#/$defs/x"}}, "unevaluatedProperties": false,
        "$defs": {"x": {"oneOf": [{"type": "null"}, {"type": "object", "properties": {"next": {"$ref": "#/$defs/x"}}}]}}});
    let said = Dialect::Mcp.schema(&own);
    assert_eq!((said.schema, said.loosened), (own, vec![]));
    let own = json!({"type": "object", "properties": {"a": {"type": "string"}}, "allOf": [{"anyOf": [{"required": ["a"]}]}],
        "if": {"required": ["a"]}, "then": {"minProperties": 1}});
    let said = Dialect::Mcp.schema(&own);
    assert_eq!((said.schema, said.loosened), (own, vec![]));
    let bare: Value = json!({"title": "T", "properties": {}});
    let whole = json!({"title": "T", "properties": {}, "type": "object"});
    assert_eq!(Dialect::Mcp.schema(&bare).schema, whole);
}
