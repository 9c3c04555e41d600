//! Pairs of schemas, with every word that is said of them.

use super::snapshot;
use serde_json::{Value, json};
use std::fmt::Write as _;
use toolkit::testing::{Snapshot, compatibility};

struct Case {
    old: &'static str,
    new: &'static str,
    says: &'static [&'static str],
}

#[test]
fn of_a_parameter() {
    check(PARAMETERS, |schema| {
        snapshot(&json!({"type": "object", "properties": {"x": schema}, "additionalProperties": false}), None)
    });
}

#[test]
fn of_parameters() {
    check(INPUTS, |mut part| {
        let aliases = part.as_object_mut().unwrap().remove("~");
        let mut input = json!({"type": "object", "additionalProperties": false});
        input.as_object_mut().unwrap().extend(part.as_object().unwrap().clone());
        let mut snapshot = snapshot(&input, None);
        if let Some(aliases) = aliases {
            snapshot.parameter_aliases = serde_json::from_value(aliases).unwrap();
        }
        snapshot
    });
}

#[test]
fn of_the_output() {
    let input = json!({"type": "object"});
    check(OUTPUTS, |mut output| {
        output["type"] = "object".into();
        snapshot(&input, Some(&output))
    });
}

#[test]
fn of_the_tool() {
    let tool = json!({
        "name": "find", "aliases": ["search"], "title": "Find", "description": "Finds.",
        "annotations": {"readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false},
        "inputSchema": {"type": "object"}, "outputSchema": {"type": "object"},
    });
    check(TOOLS, |change| {
        let mut tool = tool.clone();
        tool["annotations"]
            .as_object_mut()
            .unwrap()
            .extend(change["annotations"].as_object().cloned().unwrap_or_default());
        for (key, value) in change.as_object().unwrap().iter().filter(|(key, _)| *key != "annotations") {
            match value {
                Value::Null => drop(tool.as_object_mut().unwrap().remove(key)),
                value => tool[key] = value.clone(),
            }
        }
        Snapshot::from_json(&tool.to_string()).unwrap()
    });
}

fn check(cases: &[Case], snapshot: impl Fn(Value) -> Snapshot) {
    let mut wrong = String::new();
    for Case { old, new, says } in cases {
        let of = |text: &str| snapshot(serde_json::from_str(text).unwrap());
        let said: Vec<String> = compatibility(&of(old), &of(new)).iter().map(ToString::to_string).collect();
        if said != *says {
            let _ = writeln!(wrong, "{old}\n{new}\n  says {said:#?}\n  not {says:#?}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// The rest of a definition.
const TOOLS: &[Case] = &[
    Case { old: "{}", new: "{}", says: &[] },
    Case {
        old: "{}",
        new: r#"{"name": "look"}"#,
        says: &[
            "breaking: the tool is called `look` now and no longer answers to `find`; `alias = \"find\"` keeps the name (/name)",
        ],
    },
    Case {
        old: "{}",
        new: r#"{"name": "look", "aliases": ["find", "search"]}"#,
        says: &["compatible: the tool is called `look` now and still answers to `find` (/name)"],
    },
    Case {
        old: "{}",
        new: r#"{"name": "search", "aliases": ["find"]}"#,
        says: &["compatible: the tool is called `search` now and still answers to `find` (/name)"],
    },
    Case {
        old: "{}",
        new: r#"{"aliases": ["look"]}"#,
        says: &[
            "breaking: the tool no longer answers to `search` (/aliases/0)",
            "compatible: the tool also answers to `look` (/aliases/0)",
        ],
    },
    Case { old: "{}", new: r#"{"title": null}"#, says: &["compatible: it has another title (/title)"] },
    Case {
        old: "{}",
        new: r#"{"description": "Searches."}"#,
        says: &["compatible: its description changed (/description)"],
    },
    Case {
        old: "{}",
        new: r#"{"annotations": {"readOnlyHint": false}}"#,
        says: &[
            "breaking: it is no longer read-only: calls that ran without approval now need it or are denied, and they run alone (/annotations/readOnlyHint)",
        ],
    },
    Case {
        old: r#"{"annotations": {"readOnlyHint": false, "idempotentHint": false, "destructiveHint": null, "openWorldHint": null}}"#,
        new: "{}",
        says: &[
            "compatible: it is read-only now (/annotations/readOnlyHint)",
            "compatible: it is idempotent now (/annotations/idempotentHint)",
            "compatible: it is no longer destructive (/annotations/destructiveHint)",
            "compatible: it no longer deals with things outside this machine (/annotations/openWorldHint)",
        ],
    },
    Case {
        old: "{}",
        new: r#"{"annotations": {"idempotentHint": false, "destructiveHint": true, "openWorldHint": null}}"#,
        says: &[
            "may break: it is no longer idempotent: repeating a call repeats its effects (/annotations/idempotentHint)",
            "may break: it may be destructive now: calls that ran without approval may need it or be denied (/annotations/destructiveHint)",
            "may break: it may deal with things outside this machine now: calls may need approval or be denied (/annotations/openWorldHint)",
        ],
    },
    Case {
        old: "{}",
        new: r#"{"outputSchema": null}"#,
        says: &["breaking: the output is no longer structured (/outputSchema)"],
    },
    Case {
        old: r#"{"outputSchema": null}"#,
        new: "{}",
        says: &["compatible: the output is structured now (/outputSchema)"],
    },
];

/// The values that a parameter takes.
const PARAMETERS: &[Case] = &[
    Case {
        old: r#"{"type": "integer"}"#,
        new: r#"{"type": "string"}"#,
        says: &[
            "breaking: `x` no longer takes integers (/inputSchema/properties/x/type)",
            "compatible: `x` also takes strings (/inputSchema/properties/x/type)",
        ],
    },
    Case {
        old: r#"{"type": "number"}"#,
        new: r#"{"type": "integer"}"#,
        says: &["breaking: `x` no longer takes numbers with a fraction (/inputSchema/properties/x/type)"],
    },
    Case {
        old: r#"{"type": "integer"}"#,
        new: r#"{"type": "number"}"#,
        says: &["compatible: `x` also takes numbers with a fraction (/inputSchema/properties/x/type)"],
    },
    Case {
        old: r#"{"type": ["string", "integer"]}"#,
        new: r#"{"type": "string"}"#,
        says: &["breaking: `x` no longer takes integers (/inputSchema/properties/x/type)"],
    },
    Case {
        old: r#"{"type": "string"}"#,
        new: r#"{"type": ["string", "null"]}"#,
        says: &["compatible: `x` also takes null (/inputSchema/properties/x/type)"],
    },
    Case {
        old: r#"{"type": ["boolean", "null"]}"#,
        new: r#"{"type": "null"}"#,
        says: &["breaking: `x` no longer takes booleans (/inputSchema/properties/x/type)"],
    },
    Case {
        old: "{}",
        new: r#"{"type": "string"}"#,
        says: &[
            "breaking: `x` no longer takes null, booleans, numbers, arrays or objects (/inputSchema/properties/x/type)",
        ],
    },
    Case {
        old: r#"{"type": "string"}"#,
        new: "true",
        says: &[
            "compatible: `x` also takes null, booleans, numbers, arrays or objects (/inputSchema/properties/x/type)",
        ],
    },
    Case {
        old: r#"{"type": "string"}"#,
        new: "false",
        says: &["breaking: `x` is gone: calls that give it are refused (/inputSchema/properties/x)"],
    },
    Case {
        old: r#"{"type": "integer", "minimum": 1}"#,
        new: r#"{"type": "integer", "minimum": 2}"#,
        says: &["breaking: `x` no longer takes integers below 2 (/inputSchema/properties/x/minimum)"],
    },
    Case {
        old: r#"{"type": "integer", "minimum": 2}"#,
        new: r#"{"type": "integer", "minimum": 1}"#,
        says: &["compatible: `x` also takes integers below 2 (/inputSchema/properties/x/minimum)"],
    },
    Case {
        old: r#"{"type": "integer", "minimum": 1}"#,
        new: r#"{"type": "integer", "exclusiveMinimum": 0}"#,
        says: &[],
    },
    Case {
        old: r#"{"type": "number", "minimum": 0}"#,
        new: r#"{"type": "number", "exclusiveMinimum": 0}"#,
        says: &[
            "breaking: `x` no longer takes numbers of 0 or less (/inputSchema/properties/x/exclusiveMinimum)",
        ],
    },
    Case {
        old: r#"{"type": "number"}"#,
        new: r#"{"type": "number", "exclusiveMaximum": 1.5}"#,
        says: &[
            "breaking: `x` no longer takes numbers of 1.5 or more (/inputSchema/properties/x/exclusiveMaximum)",
        ],
    },
    Case {
        old: r#"{"type": "integer", "minimum": 0, "maximum": 18446744073709551615}"#,
        new: r#"{"type": "integer", "minimum": 0, "maximum": 18446744073709551614}"#,
        says: &[
            "breaking: `x` no longer takes integers above 18446744073709551614 (/inputSchema/properties/x/maximum)",
        ],
    },
    Case {
        old: r#"{"type": "integer", "minimum": 0, "maximum": 255}"#,
        new: r#"{"type": "integer", "minimum": -128, "maximum": 127}"#,
        says: &[
            "breaking: `x` no longer takes integers above 127 (/inputSchema/properties/x/maximum)",
            "compatible: `x` also takes integers below 0 (/inputSchema/properties/x/minimum)",
        ],
    },
    Case {
        old: r#"{"type": "integer"}"#,
        new: r#"{"type": "integer", "multipleOf": 5}"#,
        says: &[
            "breaking: `x` no longer takes integers that are not multiples of 5 (/inputSchema/properties/x/multipleOf)",
        ],
    },
    Case {
        old: r#"{"type": "integer", "multipleOf": 10}"#,
        new: r#"{"type": "integer", "multipleOf": 5}"#,
        says: &[
            "compatible: `x` also takes integers that are not multiples of 10 (/inputSchema/properties/x/multipleOf)",
        ],
    },
    Case {
        old: r#"{"type": "number", "multipleOf": 0.5}"#,
        new: r#"{"type": "number", "multipleOf": 0.25}"#,
        says: &[
            "may break: `x` may no longer take numbers that are not multiples of 0.25 (/inputSchema/properties/x/multipleOf)",
        ],
    },
    Case {
        old: r#"{"type": "string"}"#,
        new: r#"{"type": "string", "minLength": 1}"#,
        says: &[
            "breaking: `x` no longer takes strings of fewer than 1 character (/inputSchema/properties/x/minLength)",
        ],
    },
    Case {
        old: r#"{"type": "string", "maxLength": 10}"#,
        new: r#"{"type": "string", "maxLength": 9}"#,
        says: &[
            "breaking: `x` no longer takes strings of more than 9 characters (/inputSchema/properties/x/maxLength)",
        ],
    },
    Case {
        old: r#"{"type": "string", "minLength": 2, "maxLength": 3}"#,
        new: r#"{"type": "string", "minLength": 1, "maxLength": 4}"#,
        says: &[
            "compatible: `x` also takes strings of fewer than 2 characters (/inputSchema/properties/x/minLength)",
            "compatible: `x` also takes strings of more than 3 characters (/inputSchema/properties/x/maxLength)",
        ],
    },
    Case {
        old: r#"{"type": "string"}"#,
        new: r#"{"type": "string", "pattern": "^a"}"#,
        says: &[
            "breaking: `x` no longer takes strings that do not match `^a` (/inputSchema/properties/x/pattern)",
        ],
    },
    Case {
        old: r#"{"type": "string", "pattern": "^a"}"#,
        new: r#"{"type": "string", "pattern": "^ab?"}"#,
        says: &[
            "may break: `x` may no longer take strings that do not match `^ab?` (/inputSchema/properties/x/pattern)",
        ],
    },
    Case {
        old: r#"{"type": "string", "pattern": "^a"}"#,
        new: r#"{"type": "string"}"#,
        says: &[
            "compatible: `x` also takes strings that do not match `^a` (/inputSchema/properties/x/pattern)",
        ],
    },
    Case {
        old: r#"{"type": "string"}"#,
        new: r#"{"type": "string", "format": "uri"}"#,
        says: &[
            "may break: `x` may no longer take strings that are not in the format `uri` (/inputSchema/properties/x/format)",
        ],
    },
    Case { old: r#"{"type": "string", "format": "uri"}"#, new: r#"{"type": "string"}"#, says: &[] },
    Case {
        old: r#"{"type": "string", "enum": ["a", "b", "c"]}"#,
        new: r#"{"type": "string", "enum": ["a", "c"]}"#,
        says: &[r#"breaking: `x` no longer takes "b" (/inputSchema/properties/x/enum)"#],
    },
    Case {
        old: r#"{"type": "string", "enum": ["a"]}"#,
        new: r#"{"type": "string", "enum": ["a", "b"]}"#,
        says: &[r#"compatible: `x` also takes "b" (/inputSchema/properties/x/enum)"#],
    },
    Case {
        old: r#"{"type": "string", "enum": ["a", "b"]}"#,
        new: r#"{"type": "string", "enum": ["b", "a"]}"#,
        says: &[],
    },
    Case {
        old: r#"{"type": "string"}"#,
        new: r#"{"type": "string", "enum": ["a", "b"]}"#,
        says: &[r#"breaking: `x` takes only "a", "b" now (/inputSchema/properties/x/enum)"#],
    },
    Case {
        old: r#"{"type": "string", "enum": ["a", "b"]}"#,
        new: r#"{"type": "string"}"#,
        says: &[r#"compatible: `x` also takes others than "a", "b" (/inputSchema/properties/x/enum)"#],
    },
    Case {
        old: r#"{"type": "string", "enum": ["a", "bbb"]}"#,
        new: r#"{"type": "string", "maxLength": 2}"#,
        says: &[
            r#"breaking: `x` no longer takes "bbb" (/inputSchema/properties/x/type)"#,
            r#"compatible: `x` also takes others than "a", "bbb" (/inputSchema/properties/x/enum)"#,
        ],
    },
    Case {
        old: r#"{"const": "a"}"#,
        new: r#"{"const": "b"}"#,
        says: &[
            r#"breaking: `x` no longer takes "a" (/inputSchema/properties/x/const)"#,
            r#"compatible: `x` also takes "b" (/inputSchema/properties/x/const)"#,
        ],
    },
    Case {
        old: r#"{"const": "a"}"#,
        new: r#"{"enum": ["a", "b"]}"#,
        says: &[r#"compatible: `x` also takes "b" (/inputSchema/properties/x/const)"#],
    },
    Case {
        old: r#"{"type": "boolean"}"#,
        new: r#"{"const": true}"#,
        says: &["breaking: `x` no longer takes false (/inputSchema/properties/x/const)"],
    },
    Case {
        old: r#"{"type": "boolean"}"#,
        new: r#"{"type": "string"}"#,
        says: &[
            "breaking: `x` no longer takes booleans (/inputSchema/properties/x/type)",
            "compatible: `x` also takes strings (/inputSchema/properties/x/type)",
        ],
    },
    Case {
        old: r#"{"type": "string", "default": "a"}"#,
        new: r#"{"type": "string", "default": "b"}"#,
        says: &[r#"notice: `x` left out meant "a" and means "b" now (/inputSchema/properties/x/default)"#],
    },
    Case {
        old: r#"{"type": "string", "default": "a"}"#,
        new: r#"{"type": "string"}"#,
        says: &[r#"notice: `x` left out no longer means "a" (/inputSchema/properties/x)"#],
    },
    Case {
        old: r#"{"type": "string"}"#,
        new: r#"{"type": "string", "default": "b"}"#,
        says: &[r#"notice: `x` left out means "b" now (/inputSchema/properties/x/default)"#],
    },
    Case {
        old: r#"{"type": "string", "description": "One."}"#,
        new: r#"{"type": "string", "description": "Other."}"#,
        says: &[],
    },
    Case {
        old: r#"{"type": "array", "items": {"type": "string"}}"#,
        new: r#"{"type": "array", "items": {"type": "integer"}}"#,
        says: &[
            "breaking: `x[]` no longer takes strings (/inputSchema/properties/x/items/type)",
            "compatible: `x[]` also takes integers (/inputSchema/properties/x/items/type)",
        ],
    },
    Case {
        old: r#"{"type": "array", "items": {"type": "string"}}"#,
        new: r#"{"type": "array", "items": {"type": "string", "minLength": 1}, "minItems": 1}"#,
        says: &[
            "breaking: `x[]` no longer takes strings of fewer than 1 character (/inputSchema/properties/x/items/minLength)",
            "breaking: `x` no longer takes arrays of fewer than 1 item (/inputSchema/properties/x/minItems)",
        ],
    },
    Case {
        old: r#"{"type": "array", "maxItems": 3}"#,
        new: r#"{"type": "array", "maxItems": 1}"#,
        says: &[
            "breaking: `x` no longer takes arrays of more than 1 item (/inputSchema/properties/x/maxItems)",
        ],
    },
    Case {
        old: r#"{"type": "array", "minItems": 2, "maxItems": 2}"#,
        new: r#"{"type": "array", "minItems": 1, "maxItems": 3}"#,
        says: &[
            "compatible: `x` also takes arrays of more than 2 items (/inputSchema/properties/x/maxItems)",
            "compatible: `x` also takes arrays of fewer than 2 items (/inputSchema/properties/x/minItems)",
        ],
    },
    Case {
        old: r#"{"type": "array"}"#,
        new: r#"{"type": "array", "uniqueItems": true}"#,
        says: &[
            "breaking: `x` no longer takes arrays in which an item comes twice (/inputSchema/properties/x/uniqueItems)",
        ],
    },
    Case {
        old: r#"{"type": "array", "maxItems": 1}"#,
        new: r#"{"type": "array", "maxItems": 1, "uniqueItems": true}"#,
        says: &[],
    },
    Case {
        old: r#"{"type": "array", "prefixItems": [{"type": "integer"}, {"type": "integer"}], "minItems": 2, "items": false}"#,
        new: r#"{"type": "array", "prefixItems": [{"type": "integer"}, {"type": "integer"}, {"type": "integer"}], "minItems": 3, "items": false}"#,
        says: &[
            "breaking: `x` no longer takes arrays of fewer than 3 items (/inputSchema/properties/x/minItems)",
            "compatible: `x` also takes arrays of more than 2 items (/inputSchema/properties/x/items)",
        ],
    },
    Case {
        old: r#"{"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "items": false}"#,
        new: r#"{"type": "array", "prefixItems": [{"type": "integer"}, {"type": "integer"}], "items": false}"#,
        says: &[
            "breaking: `x[1]` no longer takes strings (/inputSchema/properties/x/prefixItems/1/type)",
            "compatible: `x[1]` also takes integers (/inputSchema/properties/x/prefixItems/1/type)",
        ],
    },
    Case {
        old: r#"{"type": "array", "prefixItems": [{"type": "integer"}, {"type": "integer"}], "items": false}"#,
        new: r#"{"type": "array", "prefixItems": [{"type": "integer"}], "items": false}"#,
        says: &["breaking: `x` no longer takes arrays of more than 1 item (/inputSchema/properties/x/items)"],
    },
    Case {
        old: r#"{"type": "array", "prefixItems": [{"type": "integer"}, {"type": "integer"}], "items": false}"#,
        new: r#"{"type": "array", "items": {"type": "integer"}}"#,
        says: &["compatible: `x` also takes arrays of more than 2 items (/inputSchema/properties/x/items)"],
    },
    Case {
        old: r#"{"type": "array", "contains": {"const": 1}}"#,
        new: r#"{"type": "array", "contains": {"const": 2}}"#,
        says: &[
            "may break: `contains` of `x` changed, with unknown effect (/inputSchema/properties/x/contains)",
        ],
    },
    Case {
        old: r#"{"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false}"#,
        new: r#"{"type": "object", "properties": {}, "additionalProperties": false}"#,
        says: &[
            "breaking: `x.a` is gone: calls that give it are refused (/inputSchema/properties/x/properties/a)",
        ],
    },
    Case {
        old: r#"{"type": "object", "properties": {"a": {"type": "string"}}}"#,
        new: r#"{"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false}"#,
        says: &[
            "breaking: `x` no longer takes properties that its schema does not name (/inputSchema/properties/x/additionalProperties)",
        ],
    },
    Case {
        old: r#"{"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false}"#,
        new: r#"{"type": "object", "properties": {"a": {"type": "string"}}}"#,
        says: &[
            "compatible: `x` also takes properties that its schema does not name (/inputSchema/properties/x/additionalProperties)",
        ],
    },
    Case {
        old: r#"{"type": "object", "properties": {"a": {"type": "string"}}}"#,
        new: r#"{"type": "object", "properties": {}}"#,
        says: &[
            "notice: `x.a` is gone: calls may still give it, to no effect (/inputSchema/properties/x/properties/a)",
        ],
    },
    Case {
        old: r#"{"type": "object", "properties": {}}"#,
        new: r#"{"type": "object", "properties": {"a": {"type": "string"}}}"#,
        says: &[
            "may break: `x.a` is new: calls that gave something else by that name may be refused (/inputSchema/properties/x/properties/a)",
        ],
    },
    Case {
        old: r#"{"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false}"#,
        new: r#"{"type": "object", "properties": {"a": {"type": "string", "maxLength": 3}}, "additionalProperties": false, "required": ["a"]}"#,
        says: &[
            "breaking: `x.a` no longer takes strings of more than 3 characters (/inputSchema/properties/x/properties/a/maxLength)",
            "breaking: `x.a` is required now: calls without it are refused (/inputSchema/properties/x/required)",
        ],
    },
    Case {
        old: r#"{"type": "object", "additionalProperties": {"type": "integer"}}"#,
        new: r#"{"type": "object", "additionalProperties": {"type": "integer", "minimum": 0}}"#,
        says: &[
            "breaking: `x.*` no longer takes integers below 0 (/inputSchema/properties/x/additionalProperties/minimum)",
        ],
    },
    Case {
        old: r#"{"type": "object", "additionalProperties": {"type": "integer"}}"#,
        new: r#"{"type": "object", "additionalProperties": {"type": "integer"}, "minProperties": 1}"#,
        says: &[
            "breaking: `x` no longer takes objects of fewer than 1 property (/inputSchema/properties/x/minProperties)",
        ],
    },
    Case {
        old: r#"{"type": "object", "additionalProperties": {"type": "integer"}}"#,
        new: r#"{"type": "object", "additionalProperties": {"type": "integer"}, "propertyNames": {"pattern": "^a"}}"#,
        says: &[
            "may break: `propertyNames` of `x` changed, with unknown effect (/inputSchema/properties/x/propertyNames)",
        ],
    },
    Case {
        old: r#"{"type": "object", "patternProperties": {"^\\d+$": {"type": "integer"}}, "additionalProperties": false}"#,
        new: r#"{"type": "object", "patternProperties": {"^\\d+$": {"type": "string"}}, "additionalProperties": false}"#,
        says: &[
            r"breaking: `x.*` no longer takes integers (/inputSchema/properties/x/patternProperties/^\d+$/type)",
            r"compatible: `x.*` also takes strings (/inputSchema/properties/x/patternProperties/^\d+$/type)",
        ],
    },
    Case {
        old: r#"{"anyOf": [{"type": "string"}, {"type": "integer"}]}"#,
        new: r#"{"anyOf": [{"type": "integer"}]}"#,
        says: &["breaking: `x` no longer takes strings (/inputSchema/properties/x)"],
    },
    Case {
        old: r#"{"anyOf": [{"type": "string"}, {"type": "integer"}]}"#,
        new: r#"{"type": ["integer", "string", "null"]}"#,
        says: &["compatible: `x` also takes null (/inputSchema/properties/x)"],
    },
    Case {
        old: r#"{"type": ["integer", "string"]}"#,
        new: r#"{"anyOf": [{"type": "string"}, {"type": "integer"}]}"#,
        says: &[],
    },
    Case {
        old: r#"{"anyOf": [{"type": "string"}, {"type": "integer"}]}"#,
        new: r#"{"anyOf": [{"type": "string"}, {"type": "integer", "minimum": 0}]}"#,
        says: &["breaking: `x` no longer takes integers below 0 (/inputSchema/properties/x/anyOf/1/minimum)"],
    },
    Case {
        old: r#"{"oneOf": [{"type": "object", "properties": {"kind": {"const": "a"}}, "required": ["kind"], "additionalProperties": false}, {"type": "object", "properties": {"kind": {"const": "b"}}, "required": ["kind"], "additionalProperties": false}]}"#,
        new: r#"{"oneOf": [{"type": "object", "properties": {"kind": {"const": "a"}, "n": {"type": "integer"}}, "required": ["kind", "n"], "additionalProperties": false}]}"#,
        says: &[
            "breaking: `x.n` is new and required: calls without it are refused (/inputSchema/properties/x/oneOf/0/required)",
            r#"breaking: `x` no longer takes objects whose `kind` is "b" (/inputSchema/properties/x)"#,
        ],
    },
    Case {
        old: r#"{"oneOf": [{"type": "object", "properties": {"kind": {"const": "a"}}, "required": ["kind"], "additionalProperties": false}]}"#,
        new: r#"{"oneOf": [{"type": "object", "properties": {"kind": {"const": "a"}}, "required": ["kind"], "additionalProperties": false}, {"type": "object", "properties": {"kind": {"const": "b"}}, "required": ["kind"], "additionalProperties": false}]}"#,
        says: &[r#"compatible: `x` also takes objects whose `kind` is "b" (/inputSchema/properties/x)"#],
    },
    Case {
        old: r#"{"oneOf": [{"type": "object", "properties": {"Move": {"type": "string"}}, "required": ["Move"], "additionalProperties": false}, {"type": "object", "properties": {"Copy": {"type": "string"}}, "required": ["Copy"], "additionalProperties": false}]}"#,
        new: r#"{"oneOf": [{"type": "object", "properties": {"Copy": {"type": "integer"}}, "required": ["Copy"], "additionalProperties": false}]}"#,
        says: &[
            "breaking: `x` no longer takes objects with `Move` (/inputSchema/properties/x)",
            "breaking: `x.Copy` no longer takes strings (/inputSchema/properties/x/oneOf/0/properties/Copy/type)",
            "compatible: `x.Copy` also takes integers (/inputSchema/properties/x/oneOf/1/properties/Copy/type)",
        ],
    },
    Case {
        old: r#"{"type": "integer", "minimum": 3}"#,
        new: r#"{"oneOf": [{"type": "integer", "minimum": 3}, {"type": "integer", "minimum": 5}]}"#,
        says: &[
            "may break: `x` may no longer take values that fit more than one of its variants (/inputSchema/properties/x)",
        ],
    },
    Case {
        old: r#"{"type": "string", "not": {"const": "a"}}"#,
        new: r#"{"type": "string", "not": {"const": "b"}}"#,
        says: &["may break: `not` of `x` changed, with unknown effect (/inputSchema/properties/x/not)"],
    },
    Case {
        old: r#"{"allOf": [{"type": "string"}, {"minLength": 1}]}"#,
        new: r#"{"type": "string", "minLength": 1}"#,
        says: &[],
    },
    Case {
        old: r#"{"type":"integer","minimum":0.5,"maximum":2.5}"#,
        new: r#"{"type":"integer","minimum":1,"maximum":2}"#,
        says: &[],
    },
    Case {
        old: r#"{"type":"integer","minimum":1,"maximum":2}"#,
        new: r#"{"type":"integer","minimum":1.5,"maximum":1.5}"#,
        says: &[
            "breaking: `x` no longer takes integers below 2 (/inputSchema/properties/x/minimum)",
            "breaking: `x` no longer takes integers above 1 (/inputSchema/properties/x/maximum)",
        ],
    },
    Case {
        old: r#"{"type":"array","prefixItems":[{"type":"integer"},{"type":"integer"}],"items":false}"#,
        new: r#"{"type":"array","prefixItems":[{"type":"integer"},{"type":"integer"}],"items":false,"maxItems":1}"#,
        says: &[
            "breaking: `x` no longer takes arrays of more than 1 item (/inputSchema/properties/x/maxItems)",
        ],
    },
    Case {
        old: r#"{"type":"object","patternProperties":{"^a":{"type":"integer"}}}"#,
        new: r#"{"type":"object","patternProperties":{"^a":{"type":"integer"}},"properties":{"ab":{"minimum":1}}}"#,
        says: &[
            "may break: `x.ab` is new: calls that gave something else by that name may be refused (/inputSchema/properties/x/properties/ab)",
            "may break: `patternProperties` of `x` changed, with unknown effect (/inputSchema/properties/x/patternProperties)",
        ],
    },
    Case {
        old: r#"{"type":"object","properties":{"a":{"type":"integer"}},"additionalProperties":false,"patternProperties":{"^a":{"minimum":1}}}"#,
        new: r#"{"type":"object","properties":{},"additionalProperties":{"type":"integer"},"patternProperties":{"^a":{"minimum":1}}}"#,
        says: &[
            "may break: `patternProperties` of `x` changed, with unknown effect (/inputSchema/properties/x/patternProperties)",
            "notice: `x.a` is gone: calls may still give it, to no effect (/inputSchema/properties/x/properties/a)",
            "compatible: `x` also takes properties that its schema does not name (/inputSchema/properties/x/additionalProperties)",
        ],
    },
    Case {
        old: r#"{"type":"object","oneOf":[{"properties":{"a":{"type":"integer"}},"required":["a"]}],"unevaluatedProperties":{"type":"string"}}"#,
        new: r#"{"type":"object","oneOf":[{"properties":{"a":{"type":"integer"}},"required":["a"]}],"unevaluatedProperties":false}"#,
        says: &[
            "breaking: `x` no longer takes properties that its schema does not name (/inputSchema/properties/x/oneOf/0)",
        ],
    },
];

/// Parameters, with the aliases that they have.
const INPUTS: &[Case] = &[
    Case {
        old: r#"{"properties": {"path": {"type": "string"}}}"#,
        new: r#"{"properties": {}}"#,
        says: &["breaking: `path` is gone: calls that give it are refused (/inputSchema/properties/path)"],
    },
    Case {
        old: r#"{"properties": {"path": {"type": "string"}}, "required": ["path"]}"#,
        new: r#"{"properties": {"file_path": {"type": "string"}}, "required": ["file_path"]}"#,
        says: &[
            r#"breaking: `path` is gone: calls that give it are refused; if it is called `file_path` now, give that one `alias = "path"` (/inputSchema/properties/path)"#,
            "breaking: `file_path` is new and required: calls without it are refused (/inputSchema/required)",
        ],
    },
    Case {
        old: r#"{"properties": {"path": {"type": "string"}}, "required": ["path"]}"#,
        new: r#"{"properties": {"file_path": {"type": "string"}}, "required": ["file_path"], "~": {"/properties/file_path": ["path"]}}"#,
        says: &[
            "compatible: `path` is called `file_path` now and still taken by its old name (/inputSchema/properties/path)",
        ],
    },
    Case {
        old: r#"{"properties": {"path": {"type": "string"}}}"#,
        new: r#"{"properties": {"file_path": {"type": "string", "minLength": 1}}, "~": {"/properties/file_path": ["path"]}}"#,
        says: &[
            "breaking: `path` no longer takes strings of fewer than 1 character (/inputSchema/properties/file_path/minLength)",
            "compatible: `path` is called `file_path` now and still taken by its old name (/inputSchema/properties/path)",
        ],
    },
    Case {
        old: r#"{"properties": {"path": {"type": "string"}}, "~": {"/properties/path": ["file", "filename"]}}"#,
        new: r#"{"properties": {"path": {"type": "string"}}, "~": {"/properties/path": ["file", "name"]}}"#,
        says: &[
            "breaking: `path` is no longer taken as `filename` (/inputSchema/properties/path)",
            "compatible: `path` is also taken as `name` (/inputSchema/properties/path)",
        ],
    },
    Case {
        old: r#"{"properties": {"from": {"type": "string"}, "source": {"type": "string"}}}"#,
        new: r#"{"properties": {"from": {"type": "string"}}, "~": {"/properties/from": ["source"]}}"#,
        says: &[
            "may break: `from` and `source` are both `from` now: calls that give both are refused (/inputSchema/properties/source)",
            "compatible: `source` is called `from` now and still taken by its old name (/inputSchema/properties/source)",
            "compatible: `from` is also taken as `source` (/inputSchema/properties/from)",
        ],
    },
    Case {
        old: r#"{"properties": {}}"#,
        new: r#"{"properties": {"n": {"type": "integer"}}}"#,
        says: &["compatible: `n` is new and optional (/inputSchema/properties/n)"],
    },
    Case {
        old: r#"{"properties": {}}"#,
        new: r#"{"properties": {"n": {"type": "integer"}}, "required": ["n"]}"#,
        says: &["breaking: `n` is new and required: calls without it are refused (/inputSchema/required)"],
    },
    Case {
        old: r#"{"properties": {"n": {"type": "integer"}}}"#,
        new: r#"{"properties": {"n": {"type": "integer"}}, "required": ["n"]}"#,
        says: &["breaking: `n` is required now: calls without it are refused (/inputSchema/required)"],
    },
    Case {
        old: r#"{"properties": {"n": {"type": "integer"}}, "required": ["n"]}"#,
        new: r#"{"properties": {"n": {"type": "integer", "default": 3}}}"#,
        says: &["compatible: `n` is optional now (/inputSchema/required)"],
    },
    Case {
        old: r#"{"properties": {"edits": {"type": "array", "items": {"type": "object", "properties": {"line": {"type": "integer", "minimum": 0}}, "required": ["line"]}}}}"#,
        new: r#"{"properties": {"edits": {"type": "array", "items": {"type": "object", "properties": {"line": {"type": "integer", "minimum": 1}}, "required": ["line"]}}}}"#,
        says: &[
            "breaking: `edits[].line` no longer takes integers below 1 (/inputSchema/properties/edits/items/properties/line/minimum)",
        ],
    },
    Case {
        old: r##"{"properties": {"a": {"$ref": "#/$defs/P"}, "b": {"$ref": "#/$defs/P"}}, "$defs": {"P": {"type": "string"}}}"##,
        new: r##"{"properties": {"a": {"$ref": "#/$defs/Q"}, "b": {"type": "string"}}, "$defs": {"Q": {"type": "string", "maxLength": 9}}}"##,
        says: &[
            "breaking: `a` no longer takes strings of more than 9 characters (/inputSchema/$defs/Q/maxLength)",
        ],
    },
    Case {
        old: r##"{"properties": {"t": {"$ref": "#/$defs/T"}}, "$defs": {"T": {"type": "object", "properties": {"v": {"type": "integer"}, "next": {"$ref": "#/$defs/T"}}, "additionalProperties": false}}}"##,
        new: r##"{"properties": {"t": {"$ref": "#/$defs/T"}}, "$defs": {"T": {"type": "object", "properties": {"v": {"type": "integer", "maximum": 5}, "next": {"$ref": "#/$defs/T"}}, "additionalProperties": false}}}"##,
        says: &[
            "breaking: `t.v` no longer takes integers above 5 (/inputSchema/$defs/T/properties/v/maximum)",
            "breaking: `t.next.v` no longer takes integers above 5 (/inputSchema/$defs/T/properties/v/maximum)",
        ],
    },
    Case {
        old: r##"{"properties": {"t": {"$ref": "#/$defs/T"}}, "$defs": {"T": {"type": "object", "properties": {"next": {"$ref": "#/$defs/T"}}}}}"##,
        new: r##"{"properties": {"t": {"$ref": "#/$defs/N"}}, "$defs": {"N": {"type": "object", "properties": {"next": {"$ref": "#/$defs/N"}}}}}"##,
        says: &[],
    },
    Case {
        old: r#"{"properties": {"a~/b": {"type": "integer"}}}"#,
        new: r#"{"properties": {"a~/b": {"type": "string"}}}"#,
        says: &[
            "breaking: `a~/b` no longer takes integers (/inputSchema/properties/a~0~1b/type)",
            "compatible: `a~/b` also takes strings (/inputSchema/properties/a~0~1b/type)",
        ],
    },
];

/// The structured output.
const OUTPUTS: &[Case] = &[
    Case {
        old: r#"{"properties": {"a": {"type": "string"}}, "required": ["a"]}"#,
        new: r#"{"properties": {}, "required": []}"#,
        says: &["breaking: `a` of the output is gone (/outputSchema/required)"],
    },
    Case {
        old: r#"{"properties": {"a": {"type": "string"}}, "required": []}"#,
        new: r#"{"properties": {}, "required": []}"#,
        says: &["breaking: `a` of the output is gone (/outputSchema/properties/a)"],
    },
    Case {
        old: r#"{"properties": {"a": {"type": "string"}}, "required": ["a"]}"#,
        new: r#"{"properties": {"a": {"type": "string"}}, "required": []}"#,
        says: &["breaking: `a` of the output may be missing now (/outputSchema/required)"],
    },
    Case {
        old: r#"{"properties": {"a": {"type": "string"}}, "required": []}"#,
        new: r#"{"properties": {"a": {"type": "string"}}, "required": ["a"]}"#,
        says: &["compatible: `a` of the output is always there now (/outputSchema/required)"],
    },
    Case {
        old: r#"{"properties": {"a": {"type": "string"}}, "required": ["a"]}"#,
        new: r#"{"properties": {"a": {"type": "integer"}}, "required": ["a"]}"#,
        says: &[
            "breaking: `a` of the output also gives integers now (/outputSchema/properties/a/type)",
            "compatible: `a` of the output no longer gives strings (/outputSchema/properties/a/type)",
        ],
    },
    Case {
        old: r#"{"properties": {"a": {"type": "string", "enum": ["x"]}}, "required": ["a"]}"#,
        new: r#"{"properties": {"a": {"type": "string", "enum": ["x", "y"]}}, "required": ["a"]}"#,
        says: &[r#"breaking: `a` of the output also gives "y" now (/outputSchema/properties/a/enum)"#],
    },
    Case {
        old: r#"{"properties": {"a": {"type": "string", "enum": ["x", "y"]}}, "required": ["a"]}"#,
        new: r#"{"properties": {"a": {"type": "string", "enum": ["x"]}}, "required": ["a"]}"#,
        says: &[r#"compatible: `a` of the output no longer gives "y" (/outputSchema/properties/a/enum)"#],
    },
    Case {
        old: r#"{"properties": {"a": {"type": "string"}}, "required": ["a"]}"#,
        new: r#"{"properties": {"a": {"type": "string"}, "b": {"type": "integer"}}, "required": ["a"]}"#,
        says: &["compatible: `b` of the output is new (/outputSchema/properties/b)"],
    },
    Case {
        old: r#"{"properties": {"a": {"type": "string"}}, "required": ["a"]}"#,
        new: r#"{"properties": {"a": {"type": "string"}, "b": {"type": "integer"}}, "required": ["a", "b"]}"#,
        says: &["compatible: `b` of the output is new (/outputSchema/properties/b)"],
    },
    Case {
        old: r#"{"properties": {"a": {"type": "array", "items": {"type": "integer", "minimum": 1}}}, "required": ["a"]}"#,
        new: r#"{"properties": {"a": {"type": "array", "items": {"type": "integer"}}}, "required": ["a"]}"#,
        says: &[
            "breaking: `a[]` of the output also gives integers below 1 now (/outputSchema/properties/a/items/minimum)",
        ],
    },
    Case {
        old: r#"{"properties": {"a": {"type": "string", "pattern": "^a"}}, "required": ["a"]}"#,
        new: r#"{"properties": {"a": {"type": "string", "pattern": "^b"}}, "required": ["a"]}"#,
        says: &[
            "may break: `a` of the output may also give strings that do not match `^a` now (/outputSchema/properties/a/pattern)",
        ],
    },
];
