//! A tool as a host shows it to a model.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A tool's definition in the shape of the Model Context Protocol's `Tool`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Definition {
    /// The name to call it by.
    pub name: String,
    /// Its name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it does.
    pub description: String,
    /// The JSON Schema (draft 2020-12) of its arguments: the very one that calls are checked against.
    pub input_schema: Value,
    /// The JSON Schema of its structured output, where that is an object, as the protocol demands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// What a client may want to know before it calls.
    pub annotations: Annotations,
}

/// Hints on what a tool does to the world.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Annotations {
    /// It changes nothing.
    pub read_only_hint: bool,
    /// It may destroy something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// Calling it twice does no more than once.
    pub idempotent_hint: bool,
    /// It deals with things outside this machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}
