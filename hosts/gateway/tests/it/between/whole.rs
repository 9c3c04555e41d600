//! The tools in a whole gateway.

use serde_json::{Value, json};
use toolkit::config::LoadOptions;
use toolkit::{Caller, ToolCall};
use toolkit_gateway::{Gateway, GatewayOptions, Role, SessionKey, caller_in};
use toolkit_host::Host;

use super::{key, person};
use crate::agents::in_time;

async fn gateway(directory: &std::path::Path, set: &[&str]) -> Gateway {
    let load = LoadOptions::new().data_dir(directory).set("gateway.address='127.0.0.1:0'");
    let load = load.set("permission={ gateway: 'allow', sessions_spawn: 'allow', sessions_send: 'allow' }");
    let load = set.iter().fold(load, |load, set| load.set(*set));
    // Tools of other tests need what is not here.
    let host = |load| Host::builder(load).with_toolkit(toolkit::Builder::leave_out_incomplete);
    let gateway = Gateway::start(load, host, GatewayOptions::new().version("1.2.3")).await.unwrap();
    let store = gateway.state().store();
    store.add_person("ada".to_owned(), Role::User, "main".to_owned()).await.unwrap();
    store.open_session(key("main"), None, None).await.unwrap();
    store.open_session(person("ada"), Some("ada".to_owned()), None).await.unwrap();
    gateway
}

async fn call(
    gateway: &Gateway,
    session: &SessionKey,
    tool: &str,
    arguments: Value,
) -> Result<Value, String> {
    let toolbox = gateway.host().toolbox(&caller_in(Caller::new().with_session("s"), session)).await;
    let result = toolbox.call(ToolCall::new("1", tool, arguments)).await.outcome;
    result.map(|output| output.details.unwrap()).map_err(|error| error.message().to_owned())
}

#[tokio::test]
async fn an_agent_of_the_owner_restarts_the_gateway_where_that_is_enabled() {
    let directory = tempfile::tempdir().unwrap();
    let restart = || json!({ "action": "restart" });
    let status = || json!({ "action": "status" });
    let disabled = gateway(directory.path(), &[]).await;
    let shown = call(&disabled, &key("main"), "gateway", status()).await.unwrap()["status"].clone();
    assert_eq!((&shown["version"], &shown["restartEnabled"]), (&json!("1.2.3"), &json!(false)));
    assert_eq!((&shown["sessions"], &shown["health"]), (&json!(2), &json!("degraded")), "it has no model");
    assert!(!shown["problems"].as_array().unwrap().is_empty());
    let error = call(&disabled, &key("main"), "gateway", restart()).await.unwrap_err();
    assert!(error.contains("gateway.agentsMayRestart"), "{error}");
    disabled.stop(std::time::Duration::ZERO).await.unwrap();

    let enabled = gateway(directory.path(), &["gateway.agentsMayRestart=true"]).await;
    let shown = call(&enabled, &person("ada"), "gateway", status()).await.unwrap()["status"].clone();
    assert_eq!((&shown["sessions"], &shown["problems"]), (&json!(1), &json!([])), "hers alone");
    let error = call(&enabled, &person("ada"), "gateway", restart()).await.unwrap_err();
    assert!(error.contains("the owner"), "{error}");
    assert!(!enabled.wants_restart());
    call(&enabled, &key("main"), "gateway", restart()).await.unwrap();
    in_time(enabled.stop_asked()).await;
    assert!(enabled.wants_restart());
    enabled.stop(std::time::Duration::ZERO).await.unwrap();
}

#[tokio::test]
async fn the_tools_have_the_agents_and_settings_of_the_configuration() {
    let directory = tempfile::tempdir().unwrap();
    let set = ["agents.helper={ name: 'Helper' }", "sessions.maxChildren=0"];
    let gateway = gateway(directory.path(), &set).await;
    let agents = call(&gateway, &key("main"), "agents_list", json!({})).await.unwrap();
    let ids: Vec<_> = agents["agents"].as_array().unwrap().iter().map(|agent| &agent["id"]).collect();
    assert_eq!(ids, ["main", "helper"]);
    let listed = call(&gateway, &person("ada"), "sessions_list", json!({})).await.unwrap();
    assert_eq!(listed["sessions"].as_array().unwrap().len(), 1);
    let error = call(&gateway, &key("main"), "sessions_spawn", json!({ "prompt": "x" })).await.unwrap_err();
    assert!(error.contains("which is the limit (`sessions.maxChildren`)"), "{error}");
    let error =
        call(&gateway, &key("main"), "sessions_spawn", json!({ "prompt": "x", "model": "none" })).await;
    assert!(error.unwrap_err().contains("none"));
    gateway.stop(std::time::Duration::ZERO).await.unwrap();
}
