//! Lists of tools, and their changes.

use super::{GENERATIONS, Person, connect, connect_with};
use rmcp::model::{GetPromptRequestParams, PaginatedRequestParams};
use serde_json::{Value, json};
use std::time::Duration;
use toolkit::prelude::*;
use toolkit::{Builder, Tool, descriptor::DynamicArgs, discovery::Discovery, tool_ref};
use toolkit_mcp::ServerOptions;

/// Adds two numbers.
///
/// More of it is for people.
#[tool(read_only, title = "Sum")]
async fn add(
    /** One. */
    a: i64,
    /** Other. */
    #[arg(default = 1)]
    b: i64,
) -> String {
    (a + b).to_string()
}

fn many(count: usize) -> Builder {
    let tool = |index| {
        Tool::builder(format!("tool_{index:04}"))
            .description("One of many.")
            .build(|_: ToolContext, _: DynamicArgs| async { Ok::<_, ToolError>("done") })
            .unwrap()
    };
    (0..count).map(tool).fold(Toolkit::empty(), Builder::tool)
}

#[tokio::test]
async fn a_tool_is_shown_as_it_was_written() {
    for version in &GENERATIONS {
        let connected = connect(version, Person::default(), Toolkit::empty().tool(tool_ref!(add))).await;
        let tools = connected.client.list_all_tools().await.unwrap();
        assert_eq!(
            serde_json::to_value(&tools).unwrap(),
            json!([{
                "name": "add",
                "title": "Sum",
                "description": "Adds two numbers.\n\nMore of it is for people.",
                "inputSchema": connected.toolkit.tool("add").unwrap().input_schema().unwrap(),
                "annotations": {"readOnlyHint": true, "idempotentHint": false},
            }])
        );
        let schema = serde_json::to_value(&*tools[0].input_schema).unwrap();
        assert_eq!(schema["required"], json!(["a"]));
        assert_eq!(schema["properties"]["b"]["default"], json!(1));
    }
}

/// A shape to draw.
#[toolkit::args]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Shape {
    /// A circle.
    Circle { radius: f64 },
    /// A dot.
    Dot,
}

/// Draws a shape.
#[tool(read_only)]
async fn draw(#[args] shape: Shape) -> String {
    match shape {
        Shape::Circle { radius } => format!("a circle of {radius}"),
        Shape::Dot => "a dot".to_owned(),
    }
}

/// Clients leave out a tool, or all tools, for variants at the root.
#[tokio::test]
async fn a_tool_whose_arguments_are_variants_is_shown_as_one_object() {
    for version in &GENERATIONS {
        let foreign = Tool::builder("foreign")
            .description("Has a schema of elsewhere.")
            .read_only()
            .input_schema(json!({"$ref": "#/$defs/x", "$defs": {"x": {"anyOf": [{"type": "object", "required": ["a"]}]}}}))
            .build(|_: ToolContext, _: DynamicArgs| async { Ok::<_, ToolError>("done") })
            .unwrap();
        let toolkit = Toolkit::empty().tool(tool_ref!(draw)).tool(foreign);
        let connected = connect(version, Person::default(), toolkit).await;
        let tools = connected.client.list_all_tools().await.unwrap();
        assert_eq!(tools.len(), 2);
        for tool in &tools {
            let root = &*tool.input_schema;
            assert_eq!(root["type"], "object", "{root:?}");
            assert!(root["properties"].is_object(), "{root:?}");
            for key in ["oneOf", "anyOf", "allOf", "$ref"] {
                assert!(!root.contains_key(key), "{root:?}");
            }
        }
        assert_eq!(tools[0].input_schema["properties"]["radius"]["type"], "number");
        let circle = json!({"kind": "circle", "radius": 2});
        assert_eq!(super::text(&connected.call("draw", circle).await), "a circle of 2");
        let neither = connected.call("draw", json!({"kind": "dot", "radius": 2})).await;
        assert_eq!(neither.is_error, Some(true), "{neither:?}");
    }
}

#[tokio::test]
async fn a_long_list_comes_in_pages() {
    for version in &GENERATIONS {
        for (count, page, pages) in [(0, 10, 1), (9, 10, 1), (10, 10, 1), (11, 10, 2), (25, 10, 3)] {
            let connected =
                connect_with(version, Person::default(), many(count), ServerOptions::new().page(page)).await;
            let (mut names, mut cursor, mut seen) = (Vec::new(), None, 0);
            loop {
                let mut params = PaginatedRequestParams::default();
                params.cursor = cursor;
                let listed = connected.client.list_tools(Some(params)).await.unwrap();
                names.extend(listed.tools.iter().map(|tool| tool.name.to_string()));
                seen += 1;
                cursor = listed.next_cursor;
                if cursor.is_none() {
                    break;
                }
            }
            let expected: Vec<String> = (0..count).map(|index| format!("tool_{index:04}")).collect();
            assert_eq!((names, seen), (expected, pages), "{count} by {page}");
        }
    }
}

#[tokio::test]
async fn a_cursor_that_is_none_is_refused() {
    let connected = connect(&GENERATIONS[0], Person::default(), many(3)).await;
    for cursor in ["!", "____", "gICA"] {
        let mut params = PaginatedRequestParams::default();
        params.cursor = Some(cursor.to_owned());
        let error = connected.client.list_tools(Some(params)).await.unwrap_err();
        assert!(error.to_string().contains("cursor"), "{cursor}: {error}");
    }
}

#[tokio::test]
async fn what_comes_and_goes_is_told_and_counts() {
    let person = Person::default();
    let connected = connect(&GENERATIONS[0], person.clone(), many(1)).await;
    assert_eq!(connected.client.list_all_tools().await.unwrap().len(), 1);
    // The client's word that it is ready may come after its first request.
    let late = Tool::builder("late")
        .description("Came later.")
        .read_only()
        .build(|_: ToolContext, _: DynamicArgs| async { Ok::<_, ToolError>("here") })
        .unwrap();
    connected.toolkit.register(late).unwrap();
    tokio::time::timeout(Duration::from_secs(10), person.lists_changed.notified()).await.unwrap();
    // Also for a client that does not list again.
    assert_eq!(super::text(&connected.call("late", Value::Object(serde_json::Map::new())).await), "here");
    assert_eq!(connected.client.list_all_tools().await.unwrap().len(), 2);
}

#[tokio::test]
async fn what_is_found_comes_into_the_list() {
    for version in &GENERATIONS {
        let person = Person::default();
        let toolkit =
            many(9).tool(tool_ref!(add)).discovery(Discovery::new().max_tools(9).show(["tool_0003"]));
        let connected = connect(version, person.clone(), toolkit).await;
        let listed = async || -> Vec<String> {
            let tools = connected.client.list_all_tools().await.unwrap();
            tools.into_iter().map(|tool| tool.name.into()).collect()
        };
        assert_eq!(listed().await, ["tool_0003", "tool_search"]);
        let found = connected.call("tool_search", json!({"query": "adding numbers"})).await;
        assert!(
            super::text(&found)
                .starts_with("Found 1 tool; it can be called now, by this name:\n\nadd(a: integer")
        );
        if *version == GENERATIONS[0] {
            tokio::time::timeout(Duration::from_secs(10), person.lists_changed.notified()).await.unwrap();
        }
        assert_eq!(listed().await, ["add", "tool_0003", "tool_search"]);
        assert_eq!(super::text(&connected.call("add", json!({"a": 2})).await), "3");
    }
}

#[tokio::test]
async fn skills_are_prompts_in_both_generations() {
    let skill = || {
        let schema = json!({"type": "object", "properties": {"skill": {"type": "string", "enum": ["plan", "review"]}}});
        Tool::builder("skill")
            .description("Loads a skill.\n\nAvailable skills:\n- plan: Plans a journey.\n- review")
            .input_schema(schema)
            .read_only()
            .build(|_, args| async move {
                match args.required::<String>("skill")?.as_str() {
                    "plan" => Ok("First look at the map.".to_owned()),
                    _ => Err(ToolError::failed("its file is gone")),
                }
            })
            .unwrap()
    };
    for version in GENERATIONS {
        let connected = connect(&version, Person::default(), Toolkit::empty().tool(skill())).await;
        let listed = connected.client.list_all_prompts().await.unwrap();
        let shown: Vec<(&str, Option<&str>)> =
            listed.iter().map(|prompt| (prompt.name.as_str(), prompt.description.as_deref())).collect();
        assert_eq!(shown, [("plan", Some("Plans a journey.")), ("review", None)]);
        let got = connected.client.get_prompt(GetPromptRequestParams::new("plan")).await.unwrap();
        let said = serde_json::to_value(&got.messages[0]).unwrap();
        assert_eq!(said["content"]["text"], "First look at the map.");
        let failed = connected.client.get_prompt(GetPromptRequestParams::new("review")).await.unwrap_err();
        assert!(failed.to_string().contains("its file is gone"), "{failed}");
        let unknown = connected.client.get_prompt(GetPromptRequestParams::new("other")).await.unwrap_err();
        assert!(unknown.to_string().contains("there is no prompt"), "{unknown}");
        let without = connect(&version, Person::default(), Toolkit::empty()).await;
        let info = without.client.peer_info().unwrap();
        assert!(info.capabilities.prompts.is_none());
    }
}
