//! The list, definitions, and checks of arguments.

use super::{Server, names};
use serde_json::json;
use std::sync::atomic::{AtomicU32, Ordering};
use toolkit::permission::{PermissionSettings, Permissions};
use toolkit::policy::{Policy, Refusal};
use toolkit::prelude::*;
use toolkit::{Tool, tool_ref};

static RUNS: AtomicU32 = AtomicU32::new(0);

/// Adds two numbers.
///
/// The sum is exact.
#[tool(group = "math", read_only, alias = "plus")]
async fn add(
    /** One. */
    a: u64,
    /** Other. */
    b: u64,
) -> String {
    RUNS.fetch_add(1, Ordering::Relaxed);
    (a + b).to_string()
}

/// Publishes the site.
#[tool(group = "site")]
async fn publish() {}

/// Deletes the site.
#[tool(group = "site")]
async fn delete_site() {}

#[derive(Debug)]
struct KeepsSite;

impl Policy for KeepsSite {
    fn check(&self, _: &Caller, tool: &Tool) -> Result<(), Refusal> {
        if tool.name() == "delete_site" { Err(Refusal::new("the policy", "the site stays")) } else { Ok(()) }
    }
}

fn toolkit() -> Toolkit {
    let mut settings = PermissionSettings::default();
    settings.everybody = serde_json::from_value(json!({ "publish": "allow" })).unwrap();
    let far = Tool::builder("far").source(toolkit::descriptor::Source::mcp("docs")).description("Far away.");
    Toolkit::empty()
        .tools([tool_ref!(add), tool_ref!(publish), tool_ref!(delete_site)])
        .tool(far.build(|_, _| async { "far" }).unwrap())
        .policy(KeepsSite)
        .permissions(Permissions::new([settings]))
        .build()
        .unwrap()
}

#[tokio::test]
async fn the_list_has_each_tool_with_its_verdict_and_reason() {
    let server = Server::start(toolkit()).await;
    let list = server.get("/v1/tools").await;
    assert_eq!(names(&list), ["add", "delete_site", "far", "publish"]);
    let list = list.result();
    let add = &list["tools"][0];
    assert_eq!(
        *add,
        json!({
            "name": "add", "groups": ["math"], "source": { "kind": "plugin", "id": "it" }, "summary": "Adds two numbers.",
            "annotations": add["annotations"],
            "verdict": { "decision": "allow", "reason": "the tool changes nothing" },
        })
    );
    assert_eq!(add["annotations"]["readOnlyHint"], true);
    let verdict = |place: usize| list["tools"][place]["verdict"].to_string();
    assert!(
        verdict(1).contains("deny") && verdict(1).contains("the policy: the site stays"),
        "{}",
        verdict(1)
    );
    // Nobody can be asked, so that its calls would be denied.
    assert!(verdict(2).contains("deny") && verdict(2).contains("asks nobody for approval"), "{}", verdict(2));
    assert!(verdict(3).contains("allow") && verdict(3).contains("the rule allow"), "{}", verdict(3));
}

#[tokio::test]
async fn the_list_is_filtered_by_group_source_and_search() {
    let server = Server::start(toolkit()).await;
    assert_eq!(names(&server.get("/v1/tools?group=math").await), ["add"]);
    assert_eq!(names(&server.get("/v1/tools?source=mcp:docs").await), ["far"]);
    assert_eq!(names(&server.get("/v1/tools?group=site&source=plugin").await), ["delete_site", "publish"]);
    assert_eq!(names(&server.get("/v1/tools?q=sum%20of%20numbers").await), ["add"]);
    assert_eq!(names(&server.get("/v1/tools?q=site").await), ["publish"]);
    let wrong = server.get("/v1/tools?gruop=math").await;
    assert_eq!(wrong.status, 400);
    assert!(wrong.detail().contains("`gruop`"), "{}", wrong.detail());
}

#[tokio::test]
async fn a_definition_has_the_schema_that_calls_are_checked_against() {
    let server = Server::start(toolkit()).await;
    for name in ["add", "plus"] {
        let add = server.get(&format!("/v1/tools/{name}")).await.result();
        assert_eq!(add["name"], "add");
        assert_eq!(add["description"], "Adds two numbers.\n\nThe sum is exact.");
        assert_eq!(add["aliases"], json!(["plus"]));
        assert_eq!(add["inputSchema"]["properties"]["a"]["maximum"], u64::MAX);
        assert_eq!(add["verdict"]["decision"], "allow");
    }
    let unknown = server.get("/v1/tools/ad").await;
    assert_eq!((unknown.status, &unknown.problem()["kind"]), (404, &json!("unknown_tool")));
    assert!(unknown.detail().contains("did you mean `add`"), "{}", unknown.detail());
    let denied = server.get("/v1/tools/delete_site").await;
    assert_eq!(denied.status, 403);
    assert!(denied.detail().contains("the site stays"), "{}", denied.detail());
}

#[tokio::test]
async fn arguments_are_checked_and_nothing_runs() {
    let server = Server::start(toolkit()).await;
    let check = |body| {
        let server = &server;
        async move { server.post("/v1/tools/add/validate", &body).await.result() }
    };
    assert_eq!(
        check(json!({ "a": 1, "b": 2 })).await,
        json!({ "valid": true, "arguments": { "a": 1, "b": 2 }, "repairs": [] })
    );
    let repaired = check(json!({ "a": "1", "B": 2 })).await;
    assert_eq!(repaired["arguments"], json!({ "a": 1, "b": 2 }));
    assert_eq!(repaired["repairs"].as_array().unwrap().len(), 2);
    let invalid = check(json!({ "a": -1 })).await;
    assert_eq!(invalid["valid"], false);
    let problems = invalid["problems"].as_array().unwrap();
    assert_eq!(problems.len(), 2, "{invalid}");
    assert!(problems.iter().any(|problem| problem["path"] == "/a"), "{invalid}");
    assert!(invalid["text"].as_str().unwrap().contains("invalid arguments for `add`"), "{invalid}");
    assert_eq!(RUNS.load(Ordering::Relaxed), 0);
    assert_eq!(server.post("/v1/tools/none/validate", &json!({})).await.status, 404);
    assert_eq!(server.post("/v1/tools/delete_site/validate", &json!({})).await.status, 403);
}
