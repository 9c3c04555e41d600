//! The view of a tool before a call: its verdict, its schema, a check of arguments; and toolboxes with some tools alone.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::{Value, json};
use std::sync::atomic::{AtomicU32, Ordering};
use toolkit::permission::{Decision, PermissionSettings, Permissions};
use toolkit::policy::{Policy, Refusal};
use toolkit::prelude::*;
use toolkit::{Ask, Tool, ToolErrorKind, Toolbox, tool_ref};

static RUNS: AtomicU32 = AtomicU32::new(0);

/// Changes something.
#[tool]
async fn change(
    /** How often. */
    times: u64,
) -> String {
    RUNS.fetch_add(1, Ordering::Relaxed);
    times.to_string()
}

/// Only looks.
#[tool(read_only)]
async fn look() {}

/// Changes something harmless.
#[tool(auto_execute)]
async fn note() {}

/// Decides by its arguments.
#[tool(asks)]
async fn run(ctx: &ToolContext) -> Result<(), ToolError> {
    ctx.ask(Ask::new("run", "run it")).await
}

/// Only looks, and asks about some places.
#[tool(read_only, asks)]
async fn peer(ctx: &ToolContext) -> Result<(), ToolError> {
    ctx.ask(Ask::new("peer", "look there")).await
}

/// Calls another tool.
#[tool(read_only)]
async fn relay(
    ctx: &ToolContext,
    /** Its name. */
    name: String,
) -> Result<String, ToolError> {
    Ok(ctx.call(name, json!({})).await?.to_text())
}

#[derive(Debug)]
struct NoNotes;

impl Policy for NoNotes {
    fn check(&self, _: &Caller, tool: &Tool) -> Result<(), Refusal> {
        if tool.name() == "note" { Err(Refusal::new("the policy", "no notes")) } else { Ok(()) }
    }
}

fn builder() -> toolkit::Builder {
    let tools = [tool_ref!(change), tool_ref!(look), tool_ref!(note), tool_ref!(run), tool_ref!(peer)];
    Toolkit::empty().tools(tools).tool(tool_ref!(relay))
}

fn rules(rules: Value) -> Permissions {
    let mut settings = PermissionSettings::default();
    settings.everybody = serde_json::from_value(rules).unwrap();
    Permissions::new([settings])
}

fn verdict(toolbox: &Toolbox, name: &str) -> (Decision, String) {
    let verdict = toolbox.verdict(name).unwrap();
    (verdict.decision, verdict.reason)
}

#[tokio::test]
async fn a_verdict_is_the_decision_of_the_call_and_says_why() {
    use Decision::{Allow, Ask, Deny};
    let toolbox = builder().build().unwrap().toolbox(&Caller::new()).await;
    for (name, decision, reason) in [
        ("change", Ask, "`permission.change` is `ask` by default"),
        ("look", Allow, "the tool changes nothing"),
        ("note", Allow, "the tool is declared to run without approval (`auto_execute`)"),
        (
            "run",
            Ask,
            "the tool asks for approval itself, depending on its arguments and on the rules of the kind `run`",
        ),
        ("peer", Allow, "the tool changes nothing; it asks for approval where its arguments need it"),
    ] {
        assert_eq!(verdict(&toolbox, name), (decision, reason.to_owned()), "{name}");
    }
    assert_eq!(toolbox.verdict("nothing"), None);

    let permissions = rules(json!({ "change": "allow", "look": "deny", "run": "deny" }));
    let toolkit = builder().policy(NoNotes).permissions(permissions.auto_execute("peer", false)).build();
    let toolbox = toolkit.unwrap().toolbox(&Caller::new()).await;
    for (name, decision, part) in [
        ("change", Allow, "the rule allow"),
        ("look", Deny, "the rule deny"),
        ("run", Deny, "the rule deny"),
        ("note", Deny, "the policy: no notes"),
        ("peer", Ask, "`tools.settings.peer.autoExecute` is false"),
    ] {
        let (found, reason) = verdict(&toolbox, name);
        assert_eq!(found, decision, "{name}");
        assert!(reason.contains(part), "{name}: {reason}");
    }
}

#[tokio::test]
async fn arguments_are_checked_as_in_a_call_and_nothing_runs() {
    let toolbox = builder().build().unwrap().toolbox(&Caller::new()).await;
    let (arguments, repairs) = toolbox.check_arguments("change", json!({ "times": "3" })).unwrap();
    assert_eq!((arguments, repairs.len()), (json!({ "times": 3 }), 1));
    let refused = toolbox.check_arguments("change", json!({ "times": -1, "more": 1 })).unwrap_err();
    assert_eq!(refused.problems().unwrap().problems.len(), 2, "{refused}");
    let unknown = toolbox.check_arguments("chnage", json!({})).unwrap_err();
    assert_eq!(unknown.kind(), ToolErrorKind::UnknownTool);
    assert!(unknown.message().contains("`change`"), "{unknown}");
    assert_eq!(RUNS.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn the_enforced_schema_has_the_limits_that_models_are_not_shown() {
    let tool = tool_ref!(change);
    assert_eq!(tool.input_schema().unwrap().pointer("/properties/times/maximum"), None);
    let enforced = tool.enforced_schema().unwrap();
    assert_eq!(enforced.pointer("/properties/times/maximum"), Some(&json!(u64::MAX)));
}

#[tokio::test]
async fn a_toolbox_of_some_tools_has_no_other_for_searches_and_calls_within_calls() {
    for policy in [false, true] {
        let builder = if policy { builder().policy(NoNotes) } else { builder() };
        let toolkit = builder.build().unwrap();
        let keeps = |tool: &Tool| matches!(tool.name(), "relay" | "peer");
        let toolbox = toolkit.toolbox_of(&Caller::new(), keeps, "it is not for this client").await;
        let names: Vec<&str> = toolbox.tools().map(Tool::name).collect();
        assert_eq!(names, ["peer", "relay"]);
        assert!(toolbox.search("look", 9).iter().all(|hit| hit.tool.name() != "look"));
        let within = toolbox.call(ToolCall::new("1", "relay", json!({ "name": "look" }))).await;
        assert_eq!(within.error().map(ToolError::kind), Some(ToolErrorKind::Denied));
        let own = toolbox.call(ToolCall::new("2", "look", json!({}))).await;
        assert!(own.text().contains("it is not for this client"), "{own}");
        assert_eq!(verdict(&toolbox, "look").0, Decision::Deny);
    }
}
