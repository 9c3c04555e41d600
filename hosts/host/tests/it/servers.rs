//! MCP servers of a host: which ones are started, and that they are stopped.

use crate::bench::{Bench, TideServer};
use serde_json::json;
use std::time::Duration;
use toolkit::prelude::*;
use toolkit_host::toolkit_mcp::ServerState;
use toolkit_host::{Host, McpSelection};

async fn names(bench: &Bench, selection: McpSelection) -> (Vec<String>, bool) {
    let host = Host::builder(bench.load()).mcp_servers(selection).build().unwrap();
    let names = host.mcp_servers().status().into_iter().map(|status| status.name).collect();
    let has_tool = host.toolbox(host.caller()).await.tool("tides__tide").is_some();
    host.shutdown(Duration::from_secs(5)).await;
    (names, has_tool)
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_selected_servers_are_started() {
    let server = TideServer::start().await;
    let bench = Bench::new(&json!({"mcp": {"other": server.settings(), "tides": server.settings()}}));
    let both = || vec!["other".to_owned(), "tides".to_owned()];
    assert_eq!(names(&bench, McpSelection::All).await, (both(), true));
    let of_tool = names(&bench, McpSelection::OfTool("tides__tide".to_owned())).await;
    assert_eq!(of_tool, (vec!["tides".to_owned()], true));
    let named = names(&bench, McpSelection::Named("other".to_owned())).await;
    assert_eq!(named, (vec!["other".to_owned()], false));
    assert_eq!(names(&bench, McpSelection::None).await, (Vec::new(), false));
}

#[tokio::test(flavor = "multi_thread")]
async fn further_servers_have_tools_and_are_no_part_of_the_configuration() {
    let server = TideServer::start().await;
    let bench = Bench::new(&json!({"permission": {"mcp": "allow"}}));
    let further = [("tides".to_owned(), serde_json::from_value(server.settings()).unwrap())];
    let host = Host::builder(bench.load()).further_mcp_servers(further.into()).build().unwrap();
    assert!(host.mcp_servers().is_empty());
    let toolbox = host.toolbox(host.caller()).await;
    let result = toolbox.call(ToolCall::new("1", "tides__tide", json!({"harbour": "Bergen"}))).await;
    assert_eq!(result.text(), "Bergen: high");
    host.shutdown(Duration::from_secs(5)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_are_stopped_after_the_toolkit() {
    let server = TideServer::start().await;
    let bench = Bench::new(&json!({"mcp": {"tides": server.settings()}}));
    let host = Host::builder(bench.load()).build().unwrap();
    let toolbox = host.toolbox(host.caller()).await;
    let state = || host.mcp_servers().status().remove(0).state;
    assert!(matches!(state(), ServerState::Ready { .. }), "{:?}", state());
    host.shutdown(Duration::from_secs(5)).await;
    assert_eq!(state(), ServerState::Stopped);
    let result = toolbox.call(ToolCall::new("1", "tides__tide", json!({"harbour": "Bergen"}))).await;
    assert_eq!(result.error().unwrap().kind(), toolkit::ToolErrorKind::Unavailable);
}
