//! From JSON to a function's arguments: what fits runs, what does not is explained whole.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]
#![expect(clippy::too_many_arguments, reason = "one tool with every kind of argument")]

use serde_json::{Value, json};
use std::collections::BTreeMap;
use toolkit::prelude::*;
use toolkit::{ToolErrorKind, tool_ref};

/// A mode.
#[toolkit::args]
#[derive(Debug, Clone, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Mode {
    /// Slowly.
    Slow,
    /// Fast.
    Fast,
}

/// A shape.
#[toolkit::args]
#[derive(Debug, PartialEq)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Shape {
    /// A circle.
    Circle {
        /// Its radius.
        radius: f64,
    },
    /// A box.
    Box {
        /// Its width.
        #[arg(alias = "w")]
        width: u32,
    },
}

/// A tree.
#[toolkit::args]
#[derive(Debug, PartialEq)]
struct Tree {
    /// Its value.
    #[arg(range(0..=9))]
    value: i32,
    /// The items of the tree.
    #[arg(default)]
    children: Vec<Tree>,
    /// A note.
    note: Option<String>,
}

const LIMIT: usize = 5;

/// Echoes.
#[tool(read_only)]
async fn echo(
    /// A text.
    #[arg(length(2..=4), pattern = "^[a-z]+$", alias = ["word", "t"])]
    text: &str,
    #[arg(default = 7, range(1..10))] count: u8,
    #[arg(default = "fast")] mode: Mode,
    #[arg(default = Mode::Slow)] other: Mode,
    shape: Option<Shape>,
    tree: Option<Tree>,
    #[arg(length(..=2), default)] list: &[String],
    map: Option<BTreeMap<String, bool>>,
    #[arg(range(..=LIMIT))] limit: Option<usize>,
    #[arg(rename = "type", range(0.0..1.0))] kind: Option<f64>,
    anything: Option<Value>,
    path: Option<&Path>,
) -> String {
    format!(
        "{text} {count} {mode:?} {other:?} {shape:?} {tree:?} {list:?} {map:?} {limit:?} {kind:?} {anything:?} {path:?}"
    )
}

async fn run(arguments: &str) -> ToolResult {
    let toolkit = Toolkit::empty().without_asking_first().tool(tool_ref!(echo)).build().unwrap();
    toolkit.toolbox(&Caller::new()).await.call(ToolCall::new("1", "echo", arguments)).await
}

#[tokio::test]
async fn what_fits_runs() {
    for (arguments, expected) in [
        (r#"{"text":"abc"}"#, "abc 7 Fast Slow None None [] None None None None None"),
        (r#"{"word":"abc","count":2.0}"#, "abc 2 Fast Slow None None [] None None None None None"),
        (
            r#"{"t":"abc","mode":"slow","shape":{"kind":"circle","radius":1},"list":["a"],"map":{"x":true}}"#,
            "abc 7 Slow Slow Some(Circle { radius: 1.0 }) None [\"a\"] Some({\"x\": true}) None None None None",
        ),
        (
            r#"{"text":"abc","shape":{"kind":"box","w":3},"limit":5,"type":0.5,"path":"a/b"}"#,
            "abc 7 Fast Slow Some(Box { width: 3 }) None [] None Some(5) Some(0.5) None Some(\"a/b\")",
        ),
        (
            r#"{"text":"abc","tree":{"value":1,"note":null,"children":[{"value":2.0}]},"limit":null,"count":null}"#,
            "abc 7 Fast Slow None Some(Tree { value: 1, children: [Tree { value: 2, children: [], note: None }], note: None }) [] None None None None None",
        ),
    ] {
        assert_eq!(run(arguments).await.text(), expected, "{arguments}");
    }
}

/// Adds.
#[tool(read_only)]
async fn add(#[arg(range(0..=9))] a: u8, #[arg(range(0..=9))] b: Option<u8>) -> String {
    (a + b.unwrap_or_default()).to_string()
}

#[tokio::test]
async fn arguments_that_are_no_text_are_checked_too() {
    let toolkit = Toolkit::empty().tool(tool_ref!(add)).build().unwrap();
    let toolbox = toolkit.toolbox(&Caller::new()).await;
    for (arguments, expected) in [
        (json!({"a": 1, "b": 2}), Ok("3")),
        (json!({"a": "1", "b": null}), Ok("1")),
        (json!({"a": 10}), Err("- /a: expected an integer from 0 to 9, got the number 10")),
        (
            json!({"a": 1, "c": 2}),
            Err("- /c: expected one of the arguments `a`, `b`, got the unknown `c`; did you mean `b`?"),
        ),
        (json!({}), Err("- /a: expected an integer from 0 to 9 (required), got nothing")),
        (json!([]), Err("- the arguments: expected an object, got an empty list")),
    ] {
        let result = toolbox.call(ToolCall::new("1", "add", arguments.clone())).await;
        let text = result.text();
        let told = if result.is_error() { Err(text.lines().nth(1).unwrap_or_default()) } else { Ok(&*text) };
        assert_eq!(told, expected, "{arguments}");
    }
}

#[tokio::test]
async fn what_does_not_fit_is_explained() {
    for (arguments, expected) in [
        (
            r#"{"txt":"abc","count":0,"mode":"fsat"}"#,
            &[
                "- /count: expected an integer from 1 to 9, got the number 0",
                r#"- /mode: expected one of "slow", "fast", got the string "fsat"; did you mean `fast`?"#,
                "- /txt: expected one of the arguments `text`, `count`, `mode`, `other`, `shape`, `tree`, `list`, `map`, `limit`, `type`, `anything`, `path`, got the unknown `txt`; did you mean `text`?",
                "- /text: expected a string of 2 to 4 characters that matches the pattern ^[a-z]+$ (required), got nothing",
            ][..],
        ),
        (
            r#"{"text":"ABCDE"}"#,
            &[
                r#"- /text: expected a string of 2 to 4 characters that matches the pattern ^[a-z]+$, got the string "ABCDE""#,
            ],
        ),
        (
            r#"{"text":"abc","shape":{"kind":"circle","radius":"big"}}"#,
            &[r#"- /shape/radius: expected a number, got the string "big""#],
        ),
        (
            r#"{"text":"abc","shape":{"kind":"box","widht":1}}"#,
            &[
                "- /shape/widht: expected one of the fields `kind`, `width`, got the unknown `widht`; did you mean `width`?",
                "- /shape/width: expected an integer from 0 to 4294967295 (required), got nothing",
            ],
        ),
        (
            r#"{"text":"abc","tree":{"value":10,"children":[{"value":null}]}}"#,
            &[
                "- /tree/value: expected an integer from 0 to 9, got the number 10",
                "- /tree/children/0/value: expected an integer from 0 to 9, got null",
            ],
        ),
        (
            r#"{"text":"abc","word":"abd"}"#,
            &["- /word: expected one value for `text`, got a second one: `word` is an alias of it"],
        ),
        (
            r#"{"text":"abc","list":["a","b","c"]}"#,
            &[r#"- /list: expected an array of at most 2 items, got the list ["a","b","c"]"#],
        ),
        (
            r#"{"text":"abc","type":1.0}"#,
            &["- /type: expected a number of at least 0.0 below 1.0, got the number 1.0"],
        ),
        (r#"{"text":"abc","map":{"x":1}}"#, &["- /map/x: expected a boolean, got the number 1"]),
        ("[]", &["- the arguments: expected an object, got an empty list"]),
        ("5", &["- the arguments: expected an object, got the number 5"]),
    ] {
        let result = run(arguments).await;
        let error = result.error().unwrap();
        assert_eq!(error.kind(), ToolErrorKind::InvalidArguments, "{arguments}");
        let mut lines: Vec<&str> = error.message().lines().skip(1).collect();
        let usage = lines.pop().unwrap_or_default();
        assert!(usage.starts_with("Usage: echo(text: string, count?: integer = 7,"), "{usage}");
        let mut expected = expected.to_vec();
        lines.sort_unstable();
        expected.sort_unstable();
        assert_eq!(lines, expected, "{arguments}");
    }
}

#[tokio::test]
async fn text_that_is_no_json_is_refused() {
    for (arguments, expected) in [
        (r#"{"text":"a","text":"b"}"#, "the key \"text\" is repeated"),
        (r#"{"text":"#, "ends too early"),
        (r#"{"text": True}"#, "JSON writes `true`"),
    ] {
        let text = run(arguments).await.text();
        assert!(text.contains(expected), "{arguments}: {text}");
    }
}

#[tokio::test]
async fn nothing_is_an_empty_object() {
    let result = run("null").await;
    assert_eq!(result.error().unwrap().problems().unwrap().problems.len(), 1, "only `text` is missing");
}

#[test]
fn the_schema_shows_every_rule() {
    let schema = tool_ref!(echo).input_schema().unwrap().clone();
    let property = |name: &str| schema["properties"][name].clone();
    assert_eq!(
        property("text"),
        json!({"description": "A text.", "type": "string", "minLength": 2, "maxLength": 4, "pattern": "^[a-z]+$"})
    );
    assert_eq!(property("count"), json!({"type": "integer", "minimum": 1, "maximum": 9, "default": 7}));
    assert_eq!(property("limit"), json!({"type": "integer", "minimum": 0, "maximum": 5}));
    assert_eq!(property("type"), json!({"type": "number", "minimum": 0.0, "exclusiveMaximum": 1.0}));
    assert_eq!(property("mode")["default"], "fast");
    assert_eq!(property("other")["default"], "slow");
    assert_eq!(
        property("other"),
        json!({
            "type": "string",
            "description": "A mode.\n- `slow`: Slowly.\n- `fast`: Fast.",
            "enum": ["slow", "fast"],
            "default": "slow",
        })
    );
    assert_eq!(
        property("list"),
        json!({"type": "array", "items": {"type": "string"}, "maxItems": 2, "default": []})
    );
    assert_eq!(schema["required"], json!(["text"]));
    assert_eq!(schema["additionalProperties"], json!(false));
    let text = schema.to_string();
    assert!(!text.contains("x-toolkit"), "{text}");
    assert!(!text.contains("null"), "optional is said by its absence from `required`: {text}");
    let names: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
    assert_eq!(names[..3], ["text", "count", "mode"], "in the order of the function");
}
