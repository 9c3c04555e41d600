//! Defaults and examples of arguments: each fits its schema, or the toolkit does not start.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

mod faults;
mod random;
mod types;

use serde_json::{Value, json};
use toolkit::prelude::*;

/// A struct with optional fields, whose default serde writes as `null`.
#[toolkit::args]
#[derive(Debug, Default, PartialEq)]
struct Options {
    colour: Option<String>,
    size: Option<u8>,
}

#[toolkit::args]
#[derive(Debug, PartialEq)]
struct Filled {
    colour: Option<String>,
    wait: std::time::Duration,
}

impl Default for Filled {
    fn default() -> Self {
        Self { colour: None, wait: std::time::Duration::from_secs(90) }
    }
}

fn options() -> Options {
    Options { colour: None, size: Some(3) }
}

/// The default of the type.
#[tool(read_only)]
async fn of_type(#[arg(default)] options: Options) -> String {
    format!("{options:?}")
}

/// An expression.
#[tool(read_only)]
async fn of_expression(#[arg(default = options())] options: Options) -> String {
    format!("{options:?}")
}

#[toolkit::args]
struct ByField {
    #[arg(default)]
    options: Options,
    #[arg(default = vec![options()])]
    list: Vec<Options>,
}

/// The default of a field.
#[tool(read_only)]
async fn of_field(#[args] all: ByField) -> String {
    format!("{:?} {:?}", all.options, all.list)
}

#[toolkit::args]
struct BySerde {
    #[serde(default)]
    options: Options,
    #[serde(default = "options")]
    other: Options,
}

/// A default by serde.
#[tool(read_only)]
async fn of_serde(#[args] all: BySerde) -> String {
    format!("{:?} {:?}", all.options, all.other)
}

#[toolkit::args]
#[derive(Default)]
#[serde(default)]
struct ByContainer {
    options: Options,
    filled: Filled,
}

/// A default of all.
#[tool(read_only)]
async fn of_container(#[args] all: ByContainer) -> String {
    format!("{:?} {:?}", all.options, all.filled)
}

/// A default with a duration, and one within.
#[tool(read_only)]
async fn with_durations(
    #[arg(default, example = Filled::default())] filled: Filled,
    #[arg(default = vec![std::time::Duration::from_secs(1)])] waits: Vec<std::time::Duration>,
) -> String {
    format!("{filled:?} {waits:?}")
}

#[tokio::test]
async fn a_default_with_absent_values_is_shown_without_them() {
    let absent = "Options { colour: None, size: None }";
    let three = "Options { colour: None, size: Some(3) }";
    let filled = "Filled { colour: None, wait: 90s }";
    for (tool, shown, expected) in [
        (toolkit::tool_ref!(of_type), json!({"options": {}}), absent.to_owned()),
        (toolkit::tool_ref!(of_expression), json!({"options": {"size": 3}}), three.to_owned()),
        (
            toolkit::tool_ref!(of_field),
            json!({"options": {}, "list": [{"size": 3}]}),
            format!("{absent} [{three}]"),
        ),
        (
            toolkit::tool_ref!(of_serde),
            json!({"options": {}, "other": {"size": 3}}),
            format!("{absent} {three}"),
        ),
        (
            toolkit::tool_ref!(of_container),
            json!({"options": {}, "filled": {"wait": "90s"}}),
            format!("{absent} {filled}"),
        ),
        (
            toolkit::tool_ref!(with_durations),
            json!({"filled": {"wait": "90s"}, "waits": ["1s"]}),
            format!("{filled} [1s]"),
        ),
    ] {
        let name = tool.name().to_owned();
        let toolkit = Toolkit::empty().without_asking_first().tool(tool).build().unwrap();
        let toolbox = toolkit.toolbox(&Caller::new()).await;
        let definitions = toolbox.definitions();
        assert_eq!(definitions.len(), 1, "{name} is listed");
        let properties = definitions[0].input_schema["properties"].as_object().unwrap();
        let defaults: Value = properties
            .iter()
            .map(|(name, property)| (name.clone(), property["default"].clone()))
            .collect::<serde_json::Map<_, _>>()
            .into();
        assert_eq!(defaults, shown, "{name}");
        // The shown value, given, is the same as none.
        for arguments in [json!({}), shown] {
            let result = toolbox.call(ToolCall::new("1", &*name, arguments.to_string())).await;
            assert_eq!(result.text(), expected, "{name} {arguments}");
        }
    }
}
