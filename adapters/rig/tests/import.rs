//! Tools of rig in a toolkit.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use rig_agent::tool::{RegisteredTool, ToolSet};
use rig_core::message::{ToolName, ToolResultContent};
use rig_core::tool::{ContextValue, DynamicTool, Tool as RigTool, ToolContext as RigContext};
use rig_core::tool::{ToolExecutionError, ToolOutput as RigOutput};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use toolkit::Toolbox;
use toolkit::prelude::*;
use toolkit::{
    Builder, CallOptions, Content, Tool, ToolBuilder, ToolErrorKind,
    approval::{Answer, ScriptedApprover},
    registry::Level,
};
use toolkit_rig::{import, import_set, import_with};

/// Divides, as a typed tool of rig does.
struct Divide;

#[derive(Deserialize)]
struct Terms {
    dividend: i64,
    divisor: i64,
}

#[derive(Serialize)]
struct Quotient {
    quotient: i64,
    asked_by: Option<String>,
}

#[derive(Debug, thiserror::Error)]
enum DivideError {
    #[error("the quotient of {0} is not known")]
    Unknown(i64, #[source] NoQuotient),
}

#[derive(Debug, thiserror::Error)]
#[error("nothing can be divided by zero")]
struct NoQuotient;

/// A value that a host hands to tools of rig.
#[derive(Serialize, Deserialize)]
struct Asker(String);

impl ContextValue for Asker {
    const KEY: &'static str = "asker";
}

impl RigTool for Divide {
    const NAME: &'static str = "Divide-Numbers";
    type Args = Terms;
    type Output = Quotient;
    type Error = DivideError;

    fn description(&self) -> String {
        "Divides two numbers.".to_owned()
    }

    fn parameters(&self) -> Value {
        let number = json!({"type": "integer"});
        json!({
            "type": "object",
            "properties": {"dividend": number, "divisor": number},
            "required": ["dividend", "divisor"],
            "additionalProperties": false,
        })
    }

    async fn call(&self, context: &mut RigContext, args: Terms) -> Result<Quotient, DivideError> {
        let asked_by = context.get::<Asker>().ok().flatten().map(|asker| asker.0);
        let quotient = args.dividend.checked_div(args.divisor);
        let quotient = quotient.ok_or(DivideError::Unknown(args.dividend, NoQuotient))?;
        Ok(Quotient { quotient, asked_by })
    }
}

fn dynamic(name: &str, schema: Value, output: impl Fn() -> RigOutput + Send + Sync + 'static) -> DynamicTool {
    DynamicTool::new(ToolName::new(name).unwrap(), "Does it.", schema, move |_| {
        let output = output();
        Box::pin(async move { Ok(output) })
    })
}

async fn toolbox(tools: impl IntoIterator<Item = Tool>) -> Toolbox {
    let toolkit = tools.into_iter().fold(Toolkit::empty().without_asking_first(), Builder::tool);
    toolkit.build().unwrap().toolbox(&Caller::new()).await
}

#[tokio::test]
async fn a_typed_tool_is_validated_here_and_run_there() {
    let toolbox = toolbox([import(RegisteredTool::from_tool(Divide)).unwrap()]).await;
    let definition = toolbox.definition("divide_numbers").unwrap();
    assert_eq!(definition.title.as_deref(), Some("Divide-Numbers"));
    assert_eq!(definition.description, "Divides two numbers.");
    assert_eq!(definition.input_schema, RigTool::parameters(&Divide));
    let call = async |arguments| toolbox.call(ToolCall::new("1", "divide_numbers", arguments)).await;

    let result = call(json!({"dividend": 12, "divisor": 4})).await;
    assert_eq!(result.details(), Some(json!({"quotient": 3, "asked_by": null})));
    assert_eq!(serde_json::from_str::<Value>(&result.text()).unwrap(), result.details().unwrap());

    let refused = call(json!({"dividend": true, "remainder": 0})).await;
    assert_eq!(refused.error().unwrap().kind(), ToolErrorKind::InvalidArguments);
    for part in ["/dividend", "`divisor`", "`remainder`"] {
        assert!(refused.text().contains(part), "{part}: {}", refused.text());
    }

    let failed = call(json!({"dividend": 12, "divisor": 0})).await;
    let error = failed.error().unwrap();
    assert_eq!(error.kind(), ToolErrorKind::Failed);
    assert_eq!(error.message(), "the quotient of 12 is not known: nothing can be divided by zero");
    let behind = error.source().unwrap().downcast_ref::<ToolExecutionError>().unwrap();
    assert!(behind.is::<DivideError>());
}

#[tokio::test]
async fn a_host_hands_values_of_rig_to_a_call() {
    let toolbox = toolbox([import(RegisteredTool::from_tool(Divide)).unwrap()]).await;
    let mut context = RigContext::new();
    context.insert(Asker("Ada".to_owned())).unwrap();
    let call = ToolCall::new("1", "divide_numbers", json!({"dividend": 1, "divisor": 1}));
    let result = toolbox.call_with(call, CallOptions::new().attach(Arc::new(context))).await;
    assert_eq!(result.details().unwrap()["asked_by"], "Ada");
}

#[tokio::test]
async fn a_tool_is_asked_about_unless_it_is_stated_to_only_read() {
    let plain = import(RegisteredTool::from_tool(Divide)).unwrap();
    let stated =
        import_with(RegisteredTool::from_tool(Divide), |tool| tool.read_only().group("math")).unwrap();
    assert_eq!(stated.groups().collect::<Vec<_>>(), ["math"]);
    for (tool, answer, expected) in [
        (&plain, Answer::Declined, false),
        (&plain, Answer::allow(), true),
        (&stated, Answer::Declined, true),
    ] {
        let toolkit = Toolkit::empty().tool(tool.clone()).approver(ScriptedApprover::new([answer]));
        let toolbox = toolkit.build().unwrap().toolbox(&Caller::new()).await;
        let call = ToolCall::new("1", "divide_numbers", json!({"dividend": 1, "divisor": 1}));
        let result = toolbox.call(call).await;
        assert_eq!(!result.is_error(), expected, "{}", result.text());
    }
}

#[tokio::test]
async fn a_set_comes_as_far_as_it_can() {
    let object = || json!({"type": "object"});
    let set = ToolSet::from_dynamic_tools(vec![
        dynamic("plain", object(), || RigOutput::text("plain")),
        dynamic("of.two", object(), || RigOutput::text("dot")),
        dynamic("of-two", object(), || RigOutput::text("dash")),
        dynamic("a_list", json!({"type": "array"}), || RigOutput::text("")),
        dynamic("elsewhere", json!({"type": "object", "$ref": "https://example.org/s.json"}), || {
            RigOutput::text("")
        }),
        dynamic("round", json!({"$ref": "#"}), || RigOutput::text("")),
        dynamic("mistyped", json!({"type": "objekt"}), || RigOutput::text("")),
        dynamic("no_schema", json!(5), || RigOutput::text("")),
    ]);
    let imported = import_set(&set, ToolBuilder::read_only);
    let told = |level| {
        let told = imported.diagnostics.iter().filter(move |diagnostic| diagnostic.level == level);
        told.map(|diagnostic| diagnostic.message.as_str()).collect::<Vec<_>>()
    };
    assert_eq!(told(Level::Info).len(), 2, "{:?}", imported.diagnostics);
    let left_out = told(Level::Error);
    assert_eq!(left_out.len(), 5, "{left_out:?}");
    for (name, told) in ["a_list", "elsewhere", "round", "mistyped", "no_schema"].iter().zip(&left_out) {
        assert!(told.contains(&format!("{name:?} is left out: ")), "{told}");
    }
    let toolbox = toolbox(imported.tools).await;
    let mut said = Vec::new();
    for tool in toolbox.tools() {
        said.push(toolbox.call(ToolCall::new("1", tool.name(), "{}")).await.text());
    }
    said.sort_unstable();
    assert_eq!(said, ["dash", "dot", "plain"]);

    // Who calls a tool as another would be told apart takes that one's place in nothing.
    let renamed =
        import_set(&set, |tool| tool).tools.iter().find(|tool| tool.title() == "of.two").unwrap().clone();
    let mut set = set.clone();
    set.add_dynamic_tool(dynamic(renamed.name(), object(), || RigOutput::text("its own")));
    let imported = import_set(&set, ToolBuilder::read_only);
    let told =
        imported.diagnostics.iter().map(ToString::to_string).find(|told| told.contains("of.two")).unwrap();
    assert!(told.contains("another of the set"), "{told}");
    let toolbox = self::toolbox(imported.tools).await;
    assert_eq!(toolbox.call(ToolCall::new("1", renamed.name(), "{}")).await.text(), "its own");
}

#[tokio::test]
async fn schemas_as_derives_write_them_are_enforced() {
    let derived = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Trip",
        "type": "object",
        "properties": {"to": {"$ref": "#/$defs/City"}, "via": {"type": ["array", "null"], "items": {"$ref": "#/$defs/City"}}},
        "required": ["to"],
        "$defs": {"City": {"type": "string", "enum": ["Graz", "Linz"]}},
    });
    for (name, schema, fits, does_not) in [
        ("derived", derived, json!({"to": "Graz", "via": ["Linz"]}), Some((json!({"to": "Rome"}), "/to"))),
        ("of_anything", json!({}), json!({"whatever": [1]}), None),
        ("of_nothing", json!({"type": "object", "properties": {}}), json!({}), None),
    ] {
        let tool =
            import(RegisteredTool::from_dynamic(dynamic(name, schema, || RigOutput::text("ran")))).unwrap();
        let toolbox = toolbox([tool]).await;
        let call = async |arguments: Value| toolbox.call(ToolCall::new("1", name, arguments)).await.text();
        assert_eq!(call(fits).await, "ran", "{name}");
        if let Some((arguments, place)) = does_not {
            let refused = call(arguments).await;
            assert!(refused.contains(place) && refused.contains("Graz"), "{refused}");
        }
    }
}

#[tokio::test]
async fn whatever_a_tool_does_there_is_one_result() {
    let breaks =
        DynamicTool::new(ToolName::new("breaks").unwrap(), "Breaks.", json!({"type": "object"}), |_| {
            Box::pin(async { panic!("a wire came loose") })
        });
    let waits =
        DynamicTool::new(ToolName::new("waits").unwrap(), "Waits.", json!({"type": "object"}), |_| {
            Box::pin(std::future::pending())
        });
    let live = Arc::new(AtomicBool::new(true));
    let probed = Arc::clone(&live);
    let lives = dynamic("lives", json!({"type": "object"}), || RigOutput::text("alive"))
        .with_liveness(move || probed.load(Ordering::Relaxed));
    let long = dynamic("long", json!({"type": "object"}), || RigOutput::text("a line\n".repeat(10_000)));
    let set = ToolSet::from_dynamic_tools(vec![breaks, waits, lives, long]);
    let toolbox = toolbox(import_set(&set, |tool| tool.timeout(Duration::from_millis(50))).tools).await;
    let call = async |name: &str| toolbox.call(ToolCall::new("1", name, "{}")).await;
    let kind = async |name: &str| call(name).await.error().map(toolkit::ToolError::kind);
    assert_eq!(kind("breaks").await, Some(ToolErrorKind::Panicked));
    assert_eq!(kind("waits").await, Some(ToolErrorKind::TimedOut));
    assert_eq!(call("lives").await.text(), "alive");
    live.store(false, Ordering::Relaxed);
    assert_eq!(kind("lives").await, Some(ToolErrorKind::Unavailable));
    assert!(call("long").await.text().len() < 60_000);
}

#[tokio::test]
async fn a_tool_that_goes_round_by_rig_stays_what_it_was() {
    /// Shows a dot.
    #[tool(read_only)]
    async fn dot(
        /** How large. */
        #[arg(range(1..=9))]
        size: u8,
    ) -> Result<Vec<Content>, ToolError> {
        match size {
            9 => Err(ToolError::unavailable("no ink").with_retry(toolkit::output::Retry::Now)),
            _ => Ok(vec![Content::text("a dot"), Content::image([size], "image/png")]),
        }
    }
    let first = toolbox([toolkit::tool_ref!(dot)]).await;
    let set = ToolSet::from_dynamic_tools(toolkit_rig::tools(&first));
    let imported = import_set(&set, ToolBuilder::read_only);
    assert!(imported.diagnostics.is_empty(), "{:?}", imported.diagnostics);
    let second = toolbox(imported.tools).await;
    assert_eq!(first.definitions(), second.definitions());
    for size in [3, 9, 10] {
        let call = || ToolCall::new("1", "dot", json!({"size": size}));
        assert_eq!(first.call(call()).await, second.call(call()).await);
    }
}

#[tokio::test]
async fn blocks_of_several_kinds_keep_their_order() {
    let mixed = dynamic("mixed", json!({"type": "object"}), || {
        let picture = ToolResultContent::image_base64("AQI=", None, None);
        RigOutput::content(vec![
            ToolResultContent::json(json!({"a": 1})),
            picture,
            ToolResultContent::text("end"),
        ])
        .unwrap()
    });
    let toolbox = toolbox([import(RegisteredTool::from_dynamic(mixed)).unwrap()]).await;
    let result = toolbox.call(ToolCall::new("1", "mixed", "{}")).await;
    let content = result.content();
    assert_eq!(content.len(), 3);
    assert!(content[0].as_text().unwrap().contains("\"a\": 1"));
    assert!(content[1].as_text().unwrap().contains("of which kind"));
    assert_eq!(content[2], Content::text("end"));
    assert_eq!(result.details(), Some(json!({"a": 1})));
}
