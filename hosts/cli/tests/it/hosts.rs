//! Running hosts of the command, and their clients.

#![cfg(all(target_os = "linux", feature = "mcp", feature = "fs"))]

mod http;
pub(crate) mod job;
mod lines;
mod place;
mod process;

pub(crate) use http::Http;
pub(crate) use lines::Pipe;
pub(crate) use place::{Host, Place};
pub(crate) use process::{Held, slope};

use serde_json::{Value, json};
use std::time::Duration;

/// How long a host may take for what needs no time.
pub(crate) const PATIENCE: Duration = Duration::from_mins(1);

pub(crate) fn initialize() -> Value {
    let client = json!({"name": "soak", "version": "1"});
    json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client
    }})
}

pub(crate) fn call(id: u64, name: &str, arguments: &Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": name, "arguments": arguments}})
}

/// The text of a call that succeeded.
pub(crate) fn text(response: &Value) -> String {
    let result = &response["result"];
    assert!(result["isError"] != true && result["content"].is_array(), "{response}");
    let blocks = result["content"].as_array().into_iter().flatten();
    blocks.filter_map(|block| block["text"].as_str()).collect()
}
