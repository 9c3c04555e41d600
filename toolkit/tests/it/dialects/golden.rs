//! The definitions of some tools in each dialect, kept in files. `UPDATE_SNAPSHOTS=1` writes them anew.

use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use toolkit::prelude::*;
use toolkit::{
    CallOptions, ToolErrorKind,
    dialects::{Dialect, Strictness},
    tool_ref,
};

/// Where something stands.
#[toolkit::args]
#[serde(deny_unknown_fields)]
struct Place {
    /// Line, counted from 1.
    #[schemars(range(min = 1))]
    line: u32,
    /// Column, counted from 1.
    column: Option<u32>,
}

/// The task.
#[toolkit::args]
#[serde(tag = "action", rename_all = "snake_case")]
enum Action {
    /// Lists all.
    List,
    /// Moves one.
    Move {
        /// Which one.
        id: String,
        /// Where to.
        to: Place,
    },
}

/// A tree.
#[toolkit::args]
#[serde(deny_unknown_fields)]
struct Node {
    name: String,
    children: Vec<Node>,
}

/// Marks places.
#[tool(auto_execute)]
async fn mark(
    /// The file.
    #[arg(length(1..=200))]
    file: String,
    /// The places.
    places: Vec<Place>,
    /// How.
    #[arg(default = "plain")]
    style: String,
    /// How sure.
    #[arg(range(0.0..=1.0))]
    sure: Option<f64>,
) -> String {
    format!("{file} {} {style} {sure:?}", places.len())
}

/// Manages things.
#[tool(auto_execute)]
async fn manage(#[args] action: Action) -> String {
    match action {
        Action::List => "none".to_owned(),
        Action::Move { id, to } => format!("{id} to {}:{:?}", to.line, to.column),
    }
}

/// Plants a tree.
#[tool(auto_execute)]
async fn plant(
    /// The tree.
    tree: Node,
) -> String {
    format!("{} {}", tree.name, tree.children.len())
}

/// Sets any values.
#[tool(auto_execute)]
async fn set(
    /// The settings, by name.
    values: std::collections::BTreeMap<String, Value>,
) -> String {
    values.len().to_string()
}

/// Waits.
#[tool(read_only)]
async fn wait() {}

async fn toolbox() -> toolkit::Toolbox {
    let tools = [tool_ref!(mark), tool_ref!(manage), tool_ref!(plant), tool_ref!(set), tool_ref!(wait)];
    let mut builder = Toolkit::empty();
    for tool in tools {
        builder = builder.tool(tool);
    }
    builder.build().unwrap().toolbox(&Caller::new()).await
}

#[tokio::test]
async fn definitions_are_as_recorded() {
    let toolbox = toolbox().await;
    for dialect in Dialect::ALL {
        let definitions = toolbox.definitions_for(*dialect);
        let lost: Value = definitions
            .tools()
            .iter()
            .filter(|tool| !tool.loosened.is_empty() || matches!(tool.strictness, Strictness::NotPossible(_)))
            .map(|tool| {
                let mut lines: Vec<String> = tool.loosened.iter().map(ToString::to_string).collect();
                if let Strictness::NotPossible(why) = &tool.strictness {
                    lines.insert(0, format!("not strict: {why}"));
                }
                (tool.name.clone(), json!(lines))
            })
            .collect::<serde_json::Map<_, _>>()
            .into();
        let now = format!("{:#}\n", json!({"tools": definitions.to_json(), "lost": lost}));
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/it/dialects/golden/{dialect}.json"));
        if std::env::var_os("UPDATE_SNAPSHOTS").is_some() && std::env::var_os("CI").is_none() {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, &now).unwrap();
        }
        let kept = fs::read_to_string(&path).unwrap();
        assert_eq!(now, kept, "{dialect}: write it anew with UPDATE_SNAPSHOTS=1 if it is meant to change");
    }
}

#[tokio::test]
async fn a_strict_call_runs_as_it_was_meant() {
    let toolbox = toolbox().await;
    let definitions = toolbox.definitions_for(Dialect::OpenAiResponsesStrict);
    let call = |id: &str, name: &str, arguments: Value| json!({"type": "function_call", "call_id": id, "name": name, "arguments": arguments.to_string()});
    let answer = json!({"output": [
        call("1", "mark", json!({"file": "a", "places": [{"line": 1, "column": null}], "style": null, "sure": null})),
        call("2", "manage", json!({"action": "list", "id": null, "to": null})),
        call("3", "manage", json!({"action": "move", "id": "x", "to": {"line": 2, "column": null}})),
        call("4", "mark", json!({"file": "", "places": [], "style": null, "sure": null})),
        call("5", "set", json!({"values": {"a": null}})),
    ]});
    let results = toolbox.call_all(definitions.parse(&answer).unwrap(), CallOptions::default()).await;
    let texts: Vec<String> = results[..3].iter().map(toolkit::ToolResult::text).collect();
    assert_eq!(texts, ["a 1 plain None", "none", "x to 2:None"]);
    // A keyword that the dialect did not write is enforced all the same.
    assert_eq!(results[3].error().unwrap().kind(), ToolErrorKind::InvalidArguments);
    assert_eq!(results[4].text(), "1");
}

#[tokio::test]
async fn dialects_have_names() {
    for dialect in Dialect::ALL {
        assert_eq!(dialect.name().parse::<Dialect>().unwrap(), *dialect);
        assert_eq!(serde_json::to_value(dialect).unwrap(), dialect.name());
    }
    let error = "openai".parse::<Dialect>().unwrap_err().to_string();
    assert!(error.contains("`openai-chat-strict`"), "{error}");
}
