//! Return types of tools without a wrapper.

#![expect(clippy::unnecessary_wraps, reason = "the types that tools return are what is tested")]

use super::{result, text};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use toolkit::prelude::*;
use toolkit::{
    output::{Detailed, Structured},
    tool_ref,
};

/// A size.
#[toolkit::args]
#[derive(Clone)]
struct Size {
    /// In pixels.
    width: u32,
}

#[toolkit::args]
#[serde(rename_all = "lowercase")]
enum Outcome {
    Found(Size),
    Missing,
}

#[toolkit::args]
struct Page<T> {
    items: Vec<T>,
}

/// Counts.
#[tool(read_only)]
async fn count() -> usize {
    7
}

/// Compares.
#[tool(read_only)]
fn is_there(name: &str) -> bool {
    name == "a"
}

/// Measures.
#[tool(read_only)]
fn ratio() -> Result<f64, ToolError> {
    Ok(0.5)
}

/// Measures a picture.
#[tool(read_only)]
async fn measure() -> Size {
    Size { width: 640 }
}

/// Looks.
#[tool(read_only)]
fn look(there: bool) -> Result<Outcome, ToolError> {
    Ok(if there { Outcome::Found(Size { width: 1 }) } else { Outcome::Missing })
}

/// Finds.
#[tool(read_only)]
async fn find(there: bool) -> Option<Size> {
    there.then_some(Size { width: 2 })
}

/// Lists.
#[tool(read_only)]
fn sizes() -> Vec<Size> {
    vec![Size { width: 3 }]
}

/// Pages.
#[tool(read_only)]
fn page() -> Page<Page<Size>> {
    Page { items: vec![Page { items: vec![Size { width: 4 }] }] }
}

/// Lists by name.
#[tool(read_only)]
fn by_name() -> BTreeMap<String, Size> {
    BTreeMap::from([("a".to_owned(), Size { width: 5 })])
}

/// Counts words.
#[tool(read_only)]
fn words() -> Result<HashMap<String, u32>, std::io::Error> {
    Ok(HashMap::from([("a".to_owned(), 1)]))
}

/// Names a letter.
#[tool(read_only)]
fn letter() -> char {
    'x'
}

/// Makes up anything.
#[tool(read_only)]
fn anything() -> Value {
    json!({"a": [1]})
}

/// Measures in words.
#[tool(read_only)]
fn measure_in_words() -> Result<Structured<Size>, ToolError> {
    Ok(Structured::new(ToolOutput::text("8 wide"), Size { width: 8 }))
}

/// Measures and tells how.
#[tool(read_only)]
fn measure_and_tell() -> Result<Detailed<Size>, String> {
    Ok(Detailed::new(ToolOutput::text("8 wide, by eye"), Size { width: 8 }).with_content("twice"))
}

/// Measures at times.
#[tool(read_only)]
fn measure_at_times() -> Option<Detailed<Size>> {
    Some(Detailed { output: ToolOutput::text("not today").with_details(1), details: None })
}

#[tokio::test]
async fn a_text_may_say_the_same_as_the_data_or_more() {
    for (tool, said, details, is_in_definition) in [
        (tool_ref!(measure_in_words), "8 wide", Some(json!({"width": 8})), true),
        (tool_ref!(measure_and_tell), "8 wide, by eye\ntwice", Some(json!({"width": 8})), false),
        (tool_ref!(measure_at_times), "not today", None, false),
    ] {
        let name = tool.name().to_owned();
        let schema = tool.output_schema().unwrap().to_string();
        assert!(schema.contains("width"), "{name}: {schema}");
        assert_eq!(tool.structured_schema().is_some(), is_in_definition, "{name}");
        assert_eq!(tool.definition().unwrap().output_schema.is_some(), is_in_definition, "{name}");
        let result = result(tool, "{}").await;
        assert_eq!((result.text().as_str(), result.details()), (said, details), "{name}");
    }
}

#[tokio::test]
async fn what_is_returned_is_structured_data() {
    for (tool, arguments, expected) in [
        (tool_ref!(count), "{}", Some(json!(7))),
        (tool_ref!(is_there), r#"{"name": "a"}"#, Some(json!(true))),
        (tool_ref!(ratio), "{}", Some(json!(0.5))),
        (tool_ref!(measure), "{}", Some(json!({"width": 640}))),
        (tool_ref!(look), r#"{"there": true}"#, Some(json!({"found": {"width": 1}}))),
        (tool_ref!(look), r#"{"there": false}"#, Some(json!("missing"))),
        (tool_ref!(find), r#"{"there": true}"#, Some(json!({"width": 2}))),
        (tool_ref!(find), r#"{"there": false}"#, Some(json!(null))),
        (tool_ref!(sizes), "{}", Some(json!([{"width": 3}]))),
        (tool_ref!(page), "{}", Some(json!({"items": [{"items": [{"width": 4}]}]}))),
        (tool_ref!(by_name), "{}", Some(json!({"a": {"width": 5}}))),
        (tool_ref!(words), "{}", Some(json!({"a": 1}))),
        (tool_ref!(anything), "{}", Some(json!({"a": [1]}))),
        (tool_ref!(letter), "{}", None),
    ] {
        let name = tool.name().to_owned();
        assert_eq!(result(tool, arguments).await.details(), expected, "{name} {arguments}");
    }
}

#[tokio::test]
async fn a_model_reads_json() {
    assert_eq!(text(tool_ref!(count), "{}").await, "7");
    assert_eq!(text(tool_ref!(is_there), r#"{"name": "b"}"#).await, "false");
    assert_eq!(text(tool_ref!(find), r#"{"there": false}"#).await, "null");
    assert_eq!(text(tool_ref!(measure), "{}").await, "{\n  \"width\": 640\n}");
    assert_eq!(text(tool_ref!(letter), "{}").await, "x");
}

#[test]
fn the_output_schema_is_that_of_the_type() {
    let size = tool_ref!(measure).output_schema().unwrap().clone();
    assert_eq!(
        size["properties"]["width"],
        json!({"type": "integer", "minimum": 0, "description": "In pixels."})
    );
    assert_eq!(tool_ref!(count).output_schema().unwrap()["type"], "integer");
    assert_eq!(tool_ref!(sizes).output_schema().unwrap()["items"]["type"], "object");
    assert_eq!(tool_ref!(find).output_schema().unwrap()["anyOf"][1], json!({"type": "null"}));
    assert_eq!(tool_ref!(letter).output_schema(), None);
    assert_eq!(tool_ref!(anything).output_schema(), None);
    // Only an object is announced to clients, which accept nothing else.
    assert!(tool_ref!(measure).definition().unwrap().output_schema.is_some());
    assert_eq!(tool_ref!(count).definition().unwrap().output_schema, None);
}
