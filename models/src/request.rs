//! One request to a model.

use crate::message::Message;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::sync::Arc;
use toolkit::{CancellationToken, dialects::Definitions};

/// One request to a model.
///
/// ```
/// use toolkit_models::{Message, Request, Thinking};
///
/// let request = Request::new([Message::user("What is 6 × 7?")]).system("You answer in one word.").thinking(Thinking::Low);
/// assert_eq!(request.messages.len(), 1);
/// ```
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Request {
    /// The system prompt; nothing is sent if it is empty.
    pub system: String,
    /// The conversation.
    pub messages: Vec<Message>,
    /// The tools that the model may call. If they are not of the model's dialect, they are translated.
    pub tools: Option<Arc<Definitions>>,
    /// The tools that the model may or must call.
    pub tool_choice: ToolChoice,
    /// The most tokens of the answer, instead of the configured number.
    pub max_tokens: Option<u32>,
    /// The sampling temperature. It is not sent to models that refuse it while they reason.
    pub temperature: Option<f32>,
    /// The JSON Schema of the answer's text: the provider is asked to hold the model to it.
    pub response_schema: Option<Value>,
    /// How much the model reasons; the provider's default without a value.
    pub thinking: Option<Thinking>,
    /// Places cache marks at the end of the tools, of the system prompt and of the last two turns of the user, if the provider takes
    /// marks. Others cache by themselves.
    pub cache: bool,
    /// Ends the request when it is cancelled.
    pub cancel: CancellationToken,
}

impl Request {
    /// Returns a request with these messages.
    pub fn new(messages: impl Into<Vec<Message>>) -> Self {
        Self { messages: messages.into(), ..Self::default() }
    }

    /// Sets the system prompt.
    #[must_use]
    pub fn system(mut self, system: impl Into<String>) -> Self {
        self.system = system.into();
        self
    }

    /// Sets the tools.
    #[must_use]
    pub fn tools(mut self, tools: impl Into<Arc<Definitions>>) -> Self {
        self.tools = Some(tools.into());
        self
    }

    /// Sets which tools the model may or must call.
    #[must_use]
    pub fn tool_choice(mut self, choice: ToolChoice) -> Self {
        self.tool_choice = choice;
        self
    }

    /// Sets the most tokens of the answer.
    #[must_use]
    pub const fn max_tokens(mut self, tokens: u32) -> Self {
        self.max_tokens = Some(tokens);
        self
    }

    /// Sets the sampling temperature.
    #[must_use]
    pub const fn temperature(mut self, temperature: f32) -> Self {
        self.temperature = Some(temperature);
        self
    }

    /// Sets the JSON Schema of the answer.
    #[must_use]
    pub fn response_schema(mut self, schema: Value) -> Self {
        self.response_schema = Some(schema);
        self
    }

    /// Sets how much the model reasons.
    #[must_use]
    pub const fn thinking(mut self, thinking: Thinking) -> Self {
        self.thinking = Some(thinking);
        self
    }

    /// Sets whether cache marks are placed.
    #[must_use]
    pub const fn cache(mut self, cache: bool) -> Self {
        self.cache = cache;
        self
    }

    /// Sets the token that ends the request.
    #[must_use]
    pub fn cancel(mut self, cancel: CancellationToken) -> Self {
        self.cancel = cancel;
        self
    }
}

/// The tools that a model may or must call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// It calls none.
    None,
    /// It calls at least one.
    Required,
    /// It calls the tool of this name.
    Named(String),
}

/// How much a model reasons before it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Thinking {
    /// A little.
    Low,
    /// Some.
    Medium,
    /// Much.
    High,
}
