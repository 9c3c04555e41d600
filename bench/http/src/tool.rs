//! The call that all contenders get, and its answer.

use serde_json::{Value, json};

/// The name of the tool.
pub(crate) const NAME: &str = "greet";
/// The arguments, as JSON.
pub(crate) const ARGUMENTS: &str = r#"{"name":"Ada","count":3}"#;
/// The answer to these arguments.
pub(crate) const ANSWER: &str = "hello Ada 3";

/// The token of the servers of this program.
pub(crate) const TOKEN: &str = "a-token-of-the-benchmark";

/// Returns the answer of the tool.
pub(crate) fn greet(name: &str, count: u64) -> String {
    format!("hello {name} {count}")
}

/// Returns the definition of the tool as a client lists it.
pub(crate) fn definition(name: &str) -> Value {
    json!({
        "name": name,
        "description": "Greets somebody.",
        "inputSchema": {
            "type": "object",
            "properties": { "name": { "type": "string" }, "count": { "type": "integer", "minimum": 0 } },
            "required": ["name", "count"],
        },
    })
}

/// Returns true if a result, of MCP or of `/v1`, is the right one.
pub(crate) fn is_right(result: &Value) -> bool {
    result["isError"] != true
        && result["content"][0]["text"].as_str().is_some_and(|text| text.contains(ANSWER))
}
