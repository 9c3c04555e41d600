//! The tools of a caller for whom nobody can be asked: those of which every call could only be refused are left out.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

use serde_json::{Value, json};
use toolkit::prelude::*;
use toolkit::{
    Ask, Tool, ToolErrorKind,
    approval::{Access, Answer, ScriptedApprover},
    descriptor::Source,
    permission::{PermissionSettings, Permissions},
    tool_ref,
};

/// Changes something.
#[tool]
async fn plain() {}

/// Only looks.
#[tool(read_only)]
async fn look() {}

/// Changes something harmless.
#[tool(auto_execute)]
async fn note() {}

/// Writes a file.
#[tool(permission = "edit", asks)]
async fn put(ctx: &ToolContext, path: &Path) -> Result<String, ToolError> {
    ctx.check_file_access(path, Access::Write).await?;
    Ok("written".to_owned())
}

/// Asks for some arguments.
#[tool(asks)]
async fn run(ctx: &ToolContext, danger: bool) -> Result<String, ToolError> {
    if danger {
        ctx.ask(Ask::new("run", "run it").with_pattern("it")).await?;
    }
    Ok("ran".to_owned())
}

/// Tells somebody.
#[tool(permission = "message", always_asks)]
async fn tell(ctx: &ToolContext, whom: String) -> Result<String, ToolError> {
    ctx.ask(Ask::new("message", format!("tell {whom}")).with_pattern(&whom)).await?;
    Ok(format!("told {whom}"))
}

fn remote() -> Tool {
    let tool = Tool::builder("far").source(Source::mcp("docs")).description("Far away.");
    tool.build(|_, _| async { "far" }).unwrap()
}

fn everybody(permission: Value) -> PermissionSettings {
    let mut settings = PermissionSettings::default();
    settings.everybody = serde_json::from_value(permission).unwrap();
    settings
}

fn toolkit(permissions: Permissions) -> toolkit::Builder {
    Toolkit::empty()
        .tool(tool_ref!(plain))
        .tool(tool_ref!(look))
        .tool(tool_ref!(note))
        .tool(tool_ref!(put))
        .tool(tool_ref!(run))
        .tool(remote())
        .permissions(permissions)
}

const WHY: &str = "the night shift has no approver; wait for the day";

async fn names(toolkit: &Toolkit, caller: &Caller) -> String {
    let toolbox = toolkit.toolbox(caller).await;
    let names: Vec<&str> = toolbox.tools().map(Tool::name).collect();
    names.join(" ")
}

#[tokio::test]
async fn what_every_rule_leaves_to_a_person_is_left_out() {
    let of = |rules: Value| Permissions::new([everybody(rules)]);
    let two = |one: Value, other: Value| Permissions::new([everybody(one), everybody(other)]);
    let mut of_kid = everybody(json!({ "edit": "allow" }));
    of_kid.agents.insert("kid".to_owned(), serde_json::from_value(json!({ "edit": "ask" })).unwrap());
    let entry = |pattern: &str, decision: &str| json!({ "match": pattern, "do": decision });
    let src = || entry("src/*", "allow");
    for (permissions, expected) in [
        (Permissions::default(), "look note run"),
        (of(json!({ "edit": "allow" })), "look note put run"),
        (of(json!({ "put": "allow" })), "look note put run"),
        (of(json!({ "edit": [src()] })), "look note put run"),
        // The last entry that matches counts.
        (of(json!({ "edit": [src(), entry("*", "ask")] })), "look note run"),
        (of(json!({ "edit": [entry("*", "ask"), src()] })), "look note put run"),
        (of(json!({ "edit": [entry("secret/*", "deny")] })), "look note run"),
        // Of the kind and the tool the stricter counts.
        (of(json!({ "edit": "allow", "put": "ask" })), "look note run"),
        (of(json!({ "edit": "ask", "put": [src()] })), "look note run"),
        // Of two sources the later, but for what is denied.
        (two(json!({ "edit": "ask" }), json!({ "edit": [src()] })), "look note put run"),
        (two(json!({ "edit": "allow" }), json!({ "edit": "ask" })), "look note run"),
        (two(json!({ "edit": "deny" }), json!({ "edit": "allow" })), "look note run"),
        // A rule for an agent only narrows.
        (Permissions::new([of_kid]), "look note run"),
        (of(json!({ "edit": "allow" })).narrowed_by(everybody(json!({ "edit": "ask" }))), "look note run"),
        (of(json!({ "edit": "allow" })).narrowed_by(everybody(json!({ "p*": "deny" }))), "look note run"),
        (of(json!({ "edit": "allow", "*": "deny" })), "put"),
        // Tools that do not ask by themselves.
        (of(json!({ "plain": "allow" })), "look note plain run"),
        (of(json!({ "mcp": "allow" })), "far look note run"),
        (of(json!({ "look": "ask", "note": "deny", "run": "deny" })), ""),
        (of(json!({ "run": "ask" })), "look note run"),
        (Permissions::default().auto_execute("plain", true), "look note plain run"),
        (Permissions::default().auto_execute("put", true), "look note put run"),
        (Permissions::default().auto_execute("run", false), "look note"),
    ] {
        let toolkit = toolkit(permissions.clone()).build().unwrap();
        let caller = Caller::new().with_agent("kid");
        assert_eq!(names(&toolkit, &caller).await, "far look note plain put run", "{permissions:?}");
        assert_eq!(names(&toolkit, &caller.with_unattended(WHY)).await, expected, "{permissions:?}");
    }
    // A host that decides elsewhere asks nothing before a tool runs.
    let toolkit = toolkit(Permissions::default()).without_asking_first().build().unwrap();
    assert_eq!(names(&toolkit, &Caller::new().with_unattended(WHY)).await, "far look note plain run");
}

#[tokio::test]
async fn a_call_of_what_is_left_out_says_why_and_what_would_allow_it() {
    let rules = Permissions::new([everybody(json!({ "look": "ask", "note": "deny" }))]);
    let toolkit = toolkit(rules.auto_execute("run", false)).build().unwrap();
    let toolbox = toolkit.toolbox(&Caller::new().with_unattended(WHY)).await;
    for (tool, said) in [
        ("plain", &[WHY, "`permission.plain = \"allow\"`"][..]),
        ("put", &[WHY, "`permission.edit = \"allow\"`"]),
        ("look", &[WHY, "the rule ask (/permission/look)"]),
        ("run", &[WHY, "`tools.settings.run.autoExecute: true`"]),
        ("note", &["denied by the rule deny (/permission/note)"]),
    ] {
        let result = toolbox.call(ToolCall::new("1", tool, json!({}))).await;
        let error = result.error().unwrap();
        assert_eq!(error.kind(), ToolErrorKind::Denied, "{tool}");
        let explanation = toolbox.explain(tool).unwrap();
        assert!(!explanation.exists);
        for said in said {
            assert!(error.message().contains(said), "{tool}: {}", error.message());
            assert!(explanation.denied_by().unwrap().reason.contains(said), "{explanation:?}");
        }
    }
    assert!(toolbox.search("changes something", 10).iter().all(|hit| hit.tool.name() != "plain"));
}

#[tokio::test]
async fn what_asks_in_each_call_is_left_out_unless_a_rule_may_allow_one() {
    let ada = json!({ "message": [{ "match": "ada", "do": "allow" }] });
    for (rules, is_there) in [
        (json!({}), false),
        (json!({ "message": "allow" }), true),
        (json!({ "tell": "allow" }), true),
        (ada.clone(), true),
        (json!({ "message": "ask" }), false),
        (json!({ "message": "deny" }), false),
    ] {
        let permissions = Permissions::new([everybody(rules.clone())]);
        let toolkit = Toolkit::empty().tool(tool_ref!(tell)).permissions(permissions).build().unwrap();
        let caller = Caller::new().with_unattended(WHY);
        assert_eq!(names(&toolkit, &caller).await == "tell", is_there, "{rules}");
    }
    let toolkit = Toolkit::empty().tool(tool_ref!(tell)).build().unwrap();
    assert_eq!(names(&toolkit, &Caller::new()).await, "tell");
    let toolbox = toolkit.toolbox(&Caller::new().with_unattended(WHY)).await;
    let said = &toolbox.diagnostics()[0].message;
    assert!(said.contains(WHY) && said.contains("`permission.message = \"allow\"`"), "{said}");
    // It asks itself, so that there is one question alone.
    let permissions = Permissions::new([everybody(ada)]);
    let toolkit = Toolkit::empty().tool(tool_ref!(tell)).permissions(permissions).build().unwrap();
    let toolbox = toolkit.toolbox(&Caller::new().with_unattended(WHY)).await;
    assert_eq!(toolbox.call(ToolCall::new("1", "tell", json!({ "whom": "ada" }))).await.text(), "told ada");
}

#[tokio::test]
async fn what_a_person_allowed_before_keeps_its_tool() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join("work")).unwrap();
    let answers = [Answer::allow_always(), Answer::allow_for_session()];
    let toolkit = toolkit(Permissions::default())
        .data_dir(directory.path().join("data"))
        .approver(ScriptedApprover::new(answers))
        .build()
        .unwrap();
    let caller =
        |session: &str| Caller::new().with_session(session).with_workspace(directory.path().join("work"));
    let toolbox = toolkit.toolbox(&caller("s")).await;
    assert_eq!(toolbox.call(ToolCall::new("1", "put", json!({ "path": "a.txt" }))).await.text(), "written");
    assert!(toolbox.call(ToolCall::new("2", "plain", json!({}))).await.error().is_none());
    let unattended = |caller: Caller| caller.with_unattended(WHY);
    assert_eq!(names(&toolkit, &unattended(caller("s"))).await, "look note plain put run");
    // An approval for a session holds in that session alone, and an approval of one agent for no other.
    assert_eq!(names(&toolkit, &unattended(caller("t"))).await, "look note put run");
    assert_eq!(names(&toolkit, &unattended(caller("s").with_agent("kid"))).await, "look note run");
}
