//! The examples do what they say: the proxy before the server, and a client before the proxy.

#![cfg(target_os = "linux")]
use serde_json::json;
use std::collections::BTreeMap;
use toolkit::{
    Caller, Tool, ToolCall, Toolkit,
    approval::{Answer, ScriptedApprover},
};
use toolkit_mcp::{ClientOptions, McpServerSettings, McpServers};

#[tokio::test]
async fn a_proxy_allows_denies_and_asks() {
    let (proxy, server) = (env!("CARGO_BIN_EXE_mcp-proxy"), env!("CARGO_BIN_EXE_own-mcp-server"));
    let settings =
        json!({"p": {"command": proxy, "args": ["real__round,real__note", "real__count", server]}});
    let settings: BTreeMap<String, McpServerSettings> = serde_json::from_value(settings).unwrap();
    let servers = McpServers::new(&settings, ClientOptions::new());
    let approver = ScriptedApprover::new([Answer::value(json!({})), Answer::Declined]);
    let toolkit = Toolkit::empty().tool_source(servers.clone()).without_asking_first().approver(approver);
    let toolbox = toolkit.build().unwrap().toolbox(&Caller::new()).await;
    let names: Vec<&str> = toolbox.tools().map(Tool::name).collect();
    // Both servers have resources: outputs that were truncated.
    let resources = ["p__resource_list", "p__resource_read", "resource_list", "resource_read"];
    let expected = [&["p__real__note", "p__real__round"][..], &resources].concat();
    assert_eq!(names, expected, "{:?}", servers.status());
    let call = async |name: &str, arguments| toolbox.call(ToolCall::new("1", name, arguments)).await;
    let rounded = call("p__real__round", json!({"value": 2.4681, "digits": 2})).await;
    assert_eq!(rounded.text(), "2.47");
    // The server's question comes here as a form, through the proxy.
    assert_eq!(call("p__real__note", json!({"text": "milk"})).await.text(), "noted: milk");
    let denied = call("p__real__note", json!({"text": "eggs"})).await;
    assert!(denied.error().is_some(), "{}", denied.text());
    servers.stop().await;
}
