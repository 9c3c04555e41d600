//! The configuration `plugins.llm-task`.

use toolkit::config::Secret;

/// Settings of LLM tasks (`plugins.llm-task`).
#[toolkit::args]
#[derive(Debug, Clone)]
#[serde(rename_all = "camelCase")]
pub struct LlmTaskSettings {
    /// The endpoint's base URL; `/chat/completions` is appended.
    #[arg(default = "https://api.openai.com/v1", pattern = "^https?://[^?#]+$")]
    pub base_url: String,
    /// The model, as the endpoint names it.
    #[arg(length(1..=200))]
    pub model: Option<String>,
    /// The endpoint's API key.
    pub api_key: Option<Secret>,
    /// How the structure of the answer is requested.
    #[arg(default = ResponseFormat::JsonSchema)]
    pub response_format: ResponseFormat,
    /// The maximum number of tokens in an answer.
    #[arg(default = 4_096, range(1..=1_000_000))]
    pub max_tokens: u32,
    /// The prices of the model, for the meter of the host.
    pub price: Option<TaskPrice>,
    /// The timeout of a request, in seconds.
    #[arg(default = 60, range(1..=600))]
    pub timeout_seconds: u64,
}

/// Prices of a million tokens, in the currency of the budgets.
#[toolkit::args]
#[derive(Debug, Clone, Copy)]
pub struct TaskPrice {
    /// Price of a million tokens of requests.
    #[arg(range(0.0..))]
    pub input: f64,
    /// Price of a million tokens of answers.
    #[arg(range(0.0..))]
    pub output: f64,
}

/// How the structure of the answer is requested from an endpoint.
#[toolkit::args]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum ResponseFormat {
    /// As a JSON Schema.
    JsonSchema,
    /// As a JSON object; the schema is only in the prompt.
    JsonObject,
    /// Only in the prompt, for endpoints that support neither.
    None,
}
