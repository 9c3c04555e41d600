//! Tools that are made at run time, and arguments that are fixed.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::{Value, json};
use toolkit::prelude::*;
use toolkit::{
    Tool, ToolErrorKind, Toolbox,
    descriptor::{DynamicArgs, Source},
    tool_ref,
};

/// Tells the weather.
#[tool(read_only, alias = "forecast")]
async fn weather(
    /** Where. */
    #[arg(length(2..=20), alias = "place")]
    city: String,
    /** How many days. */
    #[arg(range(1..))]
    days: Option<u8>,
) -> String {
    format!("{city} {}", days.unwrap_or(1))
}

#[toolkit::args]
struct Whole {
    /// Where.
    city: String,
    /// How many days.
    days: u8,
}

/// Tells the weather.
#[tool(read_only)]
async fn weather_whole(#[args] args: Whole) -> String {
    format!("{} {}", args.city, args.days)
}

/// Tells the weather.
#[tool(read_only)]
fn weather_blocking(
    /** Where. */
    city: &str,
    /** How many days. */
    #[arg(default = 1)]
    days: u8,
) -> String {
    format!("{city} {days}")
}

/// Says what it got.
fn echo(name: &str, schema: Value) -> Result<Tool, toolkit::descriptor::InvalidTool> {
    Tool::from_fn(name, schema, |_, args: DynamicArgs| async move { args.value().to_string() })
}

fn schema(property: &Value) -> Value {
    json!({
        "type": "object",
        "properties": { "value": property },
        "required": ["value"],
        "additionalProperties": false,
    })
}

async fn toolbox(tools: impl IntoIterator<Item = Tool>) -> Toolbox {
    let toolkit = tools
        .into_iter()
        .fold(Toolkit::empty().without_asking_first(), toolkit::Builder::tool)
        .build()
        .unwrap();
    toolkit.toolbox(&Caller::new()).await
}

async fn call(toolbox: &Toolbox, name: &str, arguments: Value) -> Result<String, ToolError> {
    toolbox.call(ToolCall::new("1", name, arguments)).await.outcome.map(|output| output.to_text())
}

#[tokio::test]
async fn the_schema_shown_is_the_schema_enforced() {
    let own = json!({
        "type": "object",
        "properties": {
            "kind": { "enum": ["a", "b"] },
            "sizes": { "type": "array", "items": { "$ref": "#/$defs/size" }, "uniqueItems": true },
            "next": { "$ref": "#" },
        },
        "required": ["kind"],
        "patternProperties": { "^x-": { "type": "string" } },
        "additionalProperties": false,
        "$defs": { "size": { "type": "integer", "multipleOf": 5 } },
    });
    let tool = echo("echo", own.clone()).unwrap();
    let toolbox = toolbox([tool]).await;
    assert_eq!(toolbox.definitions()[0].input_schema, own);
    for (arguments, at) in [
        (json!({"kind": "a", "sizes": [5, 10], "x-y": "z", "next": {"kind": "b"}}), None),
        (json!({}), Some("/kind: ")),
        (json!({"kind": "c"}), Some("/kind: ")),
        (json!({"kind": "a", "sizes": [5, 7]}), Some("/sizes/1: ")),
        (json!({"kind": "a", "sizes": [5, 5]}), Some("/sizes: ")),
        (json!({"kind": "a", "next": {"kind": "c"}}), Some("/next/kind: ")),
        (json!({"kind": "a", "y": 1}), Some("/y: ")),
    ] {
        match (call(&toolbox, "echo", arguments.clone()).await, at) {
            (Ok(text), None) => assert_eq!(text, arguments.to_string()),
            (Err(error), Some(at)) => {
                assert_eq!(error.kind(), ToolErrorKind::InvalidArguments);
                assert!(error.message().contains(&format!("\n- {at}expected ")), "{error}");
                assert!(error.message().starts_with("invalid arguments for `echo`"), "{error}");
            }
            (outcome, at) => panic!("{arguments}: {outcome:?}, {at:?}"),
        }
    }
}

#[test]
fn a_property_whose_schema_is_a_text_is_told_with_what_to_write() {
    let properties = json!({"type": "object", "properties": {"count": "integer"}});
    let error = echo("count", properties).unwrap_err();
    let text = "the tool `count` cannot be made: the schema of its arguments is not valid: the property `count` has `\"integer\"` as its schema, \
                which is an object: write `{\"type\": \"integer\"}`";
    assert_eq!(error.to_string(), text);
    // As `unwrap` and `main` print it.
    assert_eq!(format!("{error:?}"), text);
    let other = echo("count", json!({"type": "object", "properties": {"count": 3}})).unwrap_err();
    assert!(
        other.problem.ends_with("has `3` as its schema, which is an object: write `{\"type\": \"string\"}`"),
        "{other}"
    );
    for of_values in ["const", "default", "enum"] {
        let schema =
            json!({"type": "object", "properties": {"of": {of_values: [{"properties": {"a": "b"}}]}}});
        echo("count", schema).unwrap();
    }
}

#[test]
fn a_schema_that_cannot_be_enforced_makes_no_tool() {
    for (schema, expected) in [
        (json!({"type": "string"}), "always an object"),
        (json!({"type": "object", "properties": {"a": {"type": "nonsense"}}}), "not valid"),
        (json!({"type": "object", "properties": {"a": {"pattern": "("}}}), "not valid"),
        (json!({"type": "object", "properties": {"a": {"$ref": "https://example.com/a"}}}), "leads nowhere"),
        (json!({"type": "object", "$schema": "https://example.com/own-dialect"}), "not valid"),
        (json!({"type": "object", "allOf": [{"$ref": "#"}]}), "refers to itself"),
    ] {
        let error = echo("echo", schema.clone()).unwrap_err();
        assert_eq!(error.tool, "echo");
        assert!(error.to_string().contains(expected), "{schema}: {error}");
    }
    let error = Tool::builder("echo").output_schema(json!({"type": 1})).build(|_, _| async {}).unwrap_err();
    assert!(error.problem.contains("of its output"), "{error}");
}

#[tokio::test]
#[cfg_attr(not(feature = "json-schema"), ignore = "needs the feature json-schema: cargo xtask test")]
async fn an_older_draft_is_read_as_such() {
    let tuple = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": { "value": { "type": "array", "items": [{ "type": "string" }, { "type": "integer" }] } },
    });
    let toolbox = toolbox([echo("echo", tuple).unwrap()]).await;
    call(&toolbox, "echo", json!({"value": ["a", 1]})).await.unwrap();
    call(&toolbox, "echo", json!({"value": ["a", "b"]})).await.unwrap_err();
}

#[tokio::test]
async fn arguments_come_as_types() {
    let any = json!({"type": "object", "properties": {"text": {"type": "string"}, "key": {"x-toolkit-secret": true}}});
    let tool = Tool::from_fn("take", any, |_, args| async move {
        let text: String = args.required("text")?;
        let list = args.optional::<Vec<String>>("list")?.unwrap_or_default();
        let count = args.optional::<i64>("count")?;
        let _key = args.optional::<u8>("key")?;
        Ok::<_, ToolError>(format!("{text} {list:?} {count:?}"))
    });
    let toolbox = toolbox([tool.unwrap()]).await;
    let whole = json!({"text": "a", "list": ["b"], "count": 3});
    assert_eq!(call(&toolbox, "take", whole).await.unwrap(), "a [\"b\"] Some(3)");
    assert_eq!(call(&toolbox, "take", json!({"text": "a", "count": null})).await.unwrap(), "a [] None");
    for (arguments, problem, hidden) in [
        (json!({}), "/text: expected a string (required), got nothing", ""),
        (json!({"text": "a", "list": [1]}), "/list: expected a value that its type accepts", ""),
        (json!({"text": "a", "count": 1.5}), "/count: expected a value that its type accepts", ""),
        (json!({"text": "a", "key": "hunter2"}), "/key: expected", "hunter2"),
    ] {
        let error = call(&toolbox, "take", arguments).await.unwrap_err();
        assert_eq!(error.kind(), ToolErrorKind::InvalidArguments);
        assert!(error.message().contains(problem), "{error}");
        assert!(
            error.message().contains("for `take`") && error.message().contains("\nUsage: take"),
            "{error}"
        );
        assert!(hidden.is_empty() || !error.message().contains(hidden), "{error}");
    }
}

#[test]
fn all_that_is_stated_is_shown() {
    let tool = Tool::builder("now")
        .title("The time")
        .description("Tells the time.")
        .group("clock")
        .group("small")
        .alias("time")
        .icon("⏰")
        .deprecated("use `clock`")
        .permission("clock")
        .read_only()
        .destructive(false)
        .idempotent()
        .open_world(true)
        .auto_execute()
        .optional()
        .timeout(std::time::Duration::from_secs(3))
        .concurrency(2)
        .output_schema(json!({"type": "object"}))
        .source(Source::mcp("clocks"))
        .build(|_, _| async { "half past nine" })
        .unwrap();
    assert_eq!((tool.name(), tool.title(), tool.description()), ("now", "The time", "Tells the time."));
    assert!(tool.groups().eq(["clock", "small"]) && tool.aliases().eq(["time"]));
    assert_eq!((tool.icon(), tool.deprecated()), (Some("⏰"), Some("use `clock`")));
    assert_eq!((tool.permission(), tool.concurrency()), ("mcp", Some(2)));
    assert!(tool.is_optional() && tool.is_auto_execute() && tool.def().is_none());
    assert_eq!((tool.source(), tool.plugin_id()), (&Source::mcp("clocks"), None));
    assert!(tool.location().is_none(), "its code is elsewhere");
    let definition = serde_json::to_value(tool.definition().unwrap()).unwrap();
    let annotations = json!({"readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": true});
    assert_eq!(definition["annotations"], annotations);
    assert_eq!(definition["outputSchema"], json!({"type": "object"}));
    assert!(tool.named("later").aliases().len() == 0);
}

#[test]
fn a_schema_can_say_what_the_tool_does() {
    let schema = json!({"type": "object", "description": "Says what it got."});
    let tool = echo("echo", schema).unwrap();
    assert_eq!(tool.description(), "Says what it got.");
    assert_eq!(tool.input_schema().unwrap(), &json!({"type": "object"}));
    let here = tool.location().unwrap();
    assert!(here.file.ends_with("dynamic.rs") && here.line > 0, "{here}");
}

#[tokio::test]
async fn a_panic_is_caught_wherever_it_is() {
    let early = Tool::builder("early").build(|_, _| {
        assert!(std::env::args().count() == 0, "too early");
        async {}
    });
    let late = Tool::builder("late").build(|_, _| async {
        tokio::task::yield_now().await;
        assert!(std::env::args().count() == 0, "too late");
    });
    let toolbox = toolbox([early.unwrap(), late.unwrap()]).await;
    for name in ["early", "late"] {
        let error = call(&toolbox, name, json!({})).await.unwrap_err();
        assert_eq!(error.kind(), ToolErrorKind::Panicked);
        assert!(error.message().contains(&format!("too {name}")), "{error}");
    }
}

#[tokio::test]
async fn what_is_bound_is_neither_shown_nor_taken() {
    let dynamic = Tool::from_fn(
        "open",
        json!({"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}}),
        |_, args| async move {
            let city: String = args.required("city")?;
            Ok::<_, ToolError>(format!("{city} {}", args.optional::<u8>("days")?.unwrap_or(1)))
        },
    );
    let tools = [tool_ref!(weather), tool_ref!(weather_whole), tool_ref!(weather_blocking), dynamic.unwrap()];
    for tool in tools {
        let bound = tool.bind("city", "Turku").named("here");
        let schema = bound.input_schema().unwrap();
        assert_eq!(schema["properties"].as_object().unwrap().keys().collect::<Vec<_>>(), ["days"]);
        assert!(!schema.to_string().contains("city"), "{schema}");
        let toolbox = toolbox([bound.with_description("Tells it.")]).await;
        assert_eq!(call(&toolbox, "here", json!({"days": 3})).await.unwrap(), "Turku 3");
        for sent in ["city", "place"] {
            let arguments = json!({"days": 3, sent: "Oulu"});
            match call(&toolbox, "here", arguments).await {
                Ok(text) => {
                    // Its schema takes any argument; what is fixed is fixed all the same.
                    assert!(tool.name() == "open" && sent == "place" && text == "Turku 3", "{sent}: {text}");
                }
                Err(error) => {
                    assert_eq!(error.kind(), ToolErrorKind::InvalidArguments);
                    assert!(error.message().contains(&format!("/{sent}: expected")), "{error}");
                    assert!(!error.message().contains("Turku"), "{error}");
                }
            }
        }
    }
}

#[tokio::test]
async fn a_bound_tool_keeps_the_aliases_of_what_it_was_made_from() {
    let toolbox = toolbox([tool_ref!(weather).bind("city", "Turku")]).await;
    assert_eq!(call(&toolbox, "forecast", json!({})).await.unwrap(), "Turku 1");
    let both = tool_ref!(weather).bind("city", "Turku").bind("days", 7);
    assert!(both.parameter_aliases("city").len() == 0);
    assert_eq!(both.bound_arguments().unwrap().len(), 2);
    let toolbox = self::toolbox([both]).await;
    assert_eq!(call(&toolbox, "weather", json!({})).await.unwrap(), "Turku 7");
}

#[test]
fn what_cannot_be_bound_stops_the_start() {
    let composed = json!({
        "type": "object",
        "properties": {"value": {}},
        "oneOf": [{"required": ["value"]}, {"required": ["other"]}],
    });
    for (tool, expected) in [
        (tool_ref!(weather).bind("town", "Turku"), "has no argument `town`"),
        (tool_ref!(weather).bind("city", 5), "it takes a string"),
        (tool_ref!(weather).bind("city", "T"), "it takes a string"),
        (tool_ref!(weather).bind("days", 0), "cannot have `days` bound"),
        (echo("one", composed).unwrap().bind("value", 1), "`oneOf` at the root"),
        (echo("one", schema(&json!({"const": 1}))).unwrap().bind("value", 2), "cannot have `value` bound"),
    ] {
        let error = Toolkit::empty().without_asking_first().tool(tool).build().unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
    let refers = schema(&json!({"$ref": "#/$defs/even"}));
    let mut refers = refers;
    refers["$defs"] = json!({"even": {"multipleOf": 2}});
    let tool = echo("one", refers).unwrap();
    Toolkit::empty().without_asking_first().tool(tool.bind("value", 4)).build().unwrap();
    Toolkit::empty().without_asking_first().tool(tool.bind("value", 5)).build().unwrap_err();
}

#[tokio::test]
async fn one_closure_can_be_two_tools_with_two_states() {
    let tool = Tool::builder("count").build(|ctx: ToolContext, _| async move {
        ctx.require_service::<String>().map(|state| (*state).clone())
    });
    let tool = tool.unwrap();
    let one = tool.with_state("1".to_owned()).named("one");
    let toolbox = toolbox([one, tool.with_state("2".to_owned()).named("two")]).await;
    assert_eq!(call(&toolbox, "one", json!({})).await.unwrap(), "1");
    assert_eq!(call(&toolbox, "two", json!({})).await.unwrap(), "2");
}
