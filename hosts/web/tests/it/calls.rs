//! Calls and their answers.

use super::Server;
use http_body_util::Full;
use serde_json::json;
use toolkit::prelude::*;
use toolkit::{Ask, tool_ref};

/// Divides two numbers.
#[tool(read_only)]
async fn divide(
    /** One. */
    a: i64,
    /** Other. */
    b: i64,
) -> Result<String, ToolError> {
    a.checked_div(b).map(|result| result.to_string()).ok_or_else(|| ToolError::failed("b is zero"))
}

/// A place.
#[toolkit::args]
struct Place {
    /// Its name.
    name: String,
}

/// Finds a place.
#[tool(read_only)]
async fn place() -> Json<Place> {
    Json(Place { name: "here".to_owned() })
}

/// Deploys the site.
#[tool(asks)]
async fn deploy(ctx: &ToolContext) -> Result<String, ToolError> {
    ctx.ask(Ask::new("deploy", "Put the site online").with_pattern("site")).await?;
    Ok("deployed".to_owned())
}

/// Calls a tool that is not there.
#[tool(read_only)]
async fn lost(ctx: &ToolContext) -> Result<String, ToolError> {
    Ok(ctx.call("nothing", json!({})).await?.to_text())
}

/// Panics.
#[tool(read_only)]
async fn panics() -> String {
    panic!("at once")
}

fn toolkit() -> Toolkit {
    let tools = [tool_ref!(divide), tool_ref!(place), tool_ref!(deploy), tool_ref!(lost), tool_ref!(panics)];
    Toolkit::empty().tools(tools).build().unwrap()
}

#[tokio::test]
async fn a_call_is_answered_with_its_result() {
    let server = Server::start(toolkit()).await;
    let result = server.call("divide", &json!({ "a": 6, "b": 2 })).await.result();
    assert!(result["id"].as_str().unwrap().starts_with("web_"));
    assert_eq!(result["name"], "divide");
    assert_eq!(result["isError"], false);
    assert_eq!(result["content"], json!([{ "type": "text", "text": "3" }]));
    let place = server.call("place", &json!({})).await.result();
    assert_eq!(place["structured"], json!({ "name": "here" }));
    // An empty body is no arguments.
    let empty = server.request("POST", "/v1/tools/place/call").body(Full::default()).unwrap();
    assert_eq!(server.send(empty).await.result()["structured"]["name"], "here");
}

#[tokio::test]
async fn a_failure_of_a_tool_is_a_result_with_its_kind() {
    let server = Server::start(toolkit()).await;
    let failed = server.call("divide", &json!({ "a": 6, "b": 0 })).await.result();
    assert_eq!(failed["isError"], true);
    assert_eq!(failed["error"], json!({ "kind": "failed", "message": "b is zero" }));
    assert_eq!(failed["content"][0]["text"], "b is zero");
    assert_eq!(server.call("panics", &json!({})).await.result()["error"]["kind"], "panicked");
    // The call itself was of a tool that is there.
    assert_eq!(server.call("lost", &json!({})).await.result()["error"]["kind"], "unknown_tool");
}

#[tokio::test]
async fn a_refusal_is_a_problem_with_its_reason() {
    let server = Server::start(toolkit()).await;
    let unknown = server.call("divde", &json!({})).await;
    assert_eq!((unknown.status, &unknown.problem()["kind"]), (404, &json!("unknown_tool")));
    assert!(unknown.detail().contains("did you mean `divide`"), "{}", unknown.detail());
    let invalid = server.call("divide", &json!({ "a": "x" })).await;
    assert_eq!((invalid.status, &invalid.problem()["kind"]), (422, &json!("invalid_arguments")));
    assert_eq!(invalid.problem()["problems"].as_array().unwrap().len(), 2);
    let denied = server.call("deploy", &json!({})).await;
    assert_eq!((denied.status, &denied.problem()["kind"]), (403, &json!("denied")));
    assert!(denied.detail().contains("asks nobody for approval over HTTP"), "{}", denied.detail());
}

#[tokio::test]
async fn metrics_count_calls_by_tool_and_no_unknown_names() {
    let server = Server::start(toolkit()).await;
    server.call("divide", &json!({ "a": 6, "b": 2 })).await.result();
    server.call("divide", &json!({ "a": 6, "b": 0 })).await.result();
    server.call("no_such_tool", &json!({})).await;
    let metrics = server.get("/metrics").await;
    assert_eq!(metrics.status, 200);
    for line in [
        "toolkit_web_calls_total{tool=\"divide\",outcome=\"ok\"} 1",
        "toolkit_web_calls_total{tool=\"divide\",outcome=\"failed\"} 1",
        "toolkit_web_refused_total{status=\"404\"} 1",
        "toolkit_web_calls_in_flight 0",
        "toolkit_web_clients 1",
    ] {
        assert!(metrics.text.lines().any(|other| other == line), "{line}\n{}", metrics.text);
    }
    assert!(!metrics.text.contains("no_such_tool"));
}
