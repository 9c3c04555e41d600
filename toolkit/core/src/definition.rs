//! The definition of a tool, as a host sends it to a model.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A tool's definition in the shape of the Model Context Protocol's `Tool`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Definition {
    /// The name to call it by.
    pub name: String,
    /// A title for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The description of the tool.
    pub description: String,
    /// The JSON Schema (draft 2020-12) of its arguments: the same one that calls are validated
    /// against.
    pub input_schema: Value,
    /// The JSON Schema of its structured output, if the output is an object, as the protocol demands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// Hints for a client.
    pub annotations: Annotations,
}

impl Definition {
    /// Creates a definition without a title and a schema of its output.
    #[doc(hidden)]
    pub fn new(name: String, description: String, input_schema: Value, annotations: Annotations) -> Self {
        Self { name, title: None, description, input_schema, output_schema: None, annotations }
    }
}

/// Hints about a tool's effects.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Annotations {
    /// The tool changes nothing.
    pub read_only_hint: bool,
    /// The tool may destroy something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// The tool is idempotent: calling it twice has no more effect than once.
    pub idempotent_hint: bool,
    /// The tool interacts with systems outside this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}
