//! The configuration `plugins.llm-task`.

use crate::chat::Model;
use toolkit::prelude::*;
use toolkit::{Config, Secret};

/// What can be configured of tasks, under `plugins.llm-task`.
#[toolkit::args]
#[derive(Debug, Clone)]
#[serde(rename_all = "camelCase")]
pub struct LlmTaskSettings {
    /// Where the endpoint is; `/chat/completions` is added.
    #[arg(default = "https://api.openai.com/v1", pattern = "^https?://[^?#]+$")]
    pub base_url: String,
    /// The model, as the endpoint names it.
    #[arg(length(1..=200))]
    pub model: Option<String>,
    /// The key that the endpoint wants.
    pub api_key: Option<Secret>,
    /// How the endpoint is told of the answer's structure.
    #[arg(default = ResponseFormat::JsonSchema)]
    pub response_format: ResponseFormat,
    /// The most tokens of an answer.
    #[arg(default = 4_096, range(1..=1_000_000))]
    pub max_tokens: u32,
    /// How long a request may take, in seconds.
    #[arg(default = 60, range(1..=600))]
    pub timeout_seconds: u64,
}

/// How an endpoint is told of the answer's structure.
#[toolkit::args]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum ResponseFormat {
    /// By the schema itself.
    JsonSchema,
    /// By demanding an object; the schema stands in the prompt alone.
    JsonObject,
    /// By the prompt alone, for endpoints that know neither.
    None,
}

#[toolkit::service]
fn model(settings: &Config<LlmTaskSettings>) -> Result<Model, ToolError> {
    Model::new(settings)
}
