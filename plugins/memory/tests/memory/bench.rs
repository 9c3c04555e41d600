//! A toolkit with the plugin, and calls of its tools.

use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use toolkit::prelude::*;
use toolkit::{
    Toolbox,
    approval::{Answer, ScriptedApprover},
    config::{Configuration, LoadOptions},
};
use toolkit_memory::{Memory, MemorySettings};

pub(super) const ALLOWED: &str = "permission.memory=allow";

pub(super) fn toolkit(data: &Path, settings: &[&str]) -> Toolkit {
    let options = settings.iter().fold(LoadOptions::new(), |options, setting| options.set(*setting));
    Toolkit::builder()
        .configuration(Configuration::load(options).unwrap())
        .data_dir(data)
        .approver(ScriptedApprover::new([Answer::deny_saying("not now")]))
        .build()
        .unwrap()
}

pub(super) async fn toolbox(data: &Path, agent: &str, settings: &[&str]) -> Toolbox {
    toolkit(data, settings).toolbox(&Caller::new().with_agent(agent)).await
}

pub(super) async fn call(toolbox: &Toolbox, name: &str, arguments: Value) -> ToolResult {
    toolbox.call(ToolCall::new("1", name, arguments)).await
}

/// The text of a call that succeeds.
pub(super) async fn told(toolbox: &Toolbox, name: &str, arguments: Value) -> Value {
    let result = call(toolbox, name, arguments).await;
    assert!(!result.is_error(), "{name}: {}", result.text());
    serde_json::from_str(&result.text()).unwrap()
}

pub(super) async fn store(toolbox: &Toolbox, text: &str) -> i64 {
    told(toolbox, "memory_store", json!({ "text": text })).await["id"].as_i64().unwrap()
}

/// The texts that a query finds.
pub(super) async fn found(toolbox: &Toolbox, query: &str) -> Vec<String> {
    let found = told(toolbox, "memory_search", json!({ "query": query, "limit": 20 })).await;
    found["notes"].as_array().unwrap().iter().map(|note| note["text"].as_str().unwrap().to_owned()).collect()
}

pub(super) async fn error(toolbox: &Toolbox, name: &str, arguments: Value) -> ToolError {
    call(toolbox, name, arguments).await.outcome.unwrap_err()
}

pub(super) fn file_of(data: &Path, agent: &str) -> PathBuf {
    let settings = MemorySettings { max_notes: 1, wait_ms: 0 };
    Memory::new(data.join("memory"), &settings).file_of(Some(agent))
}
