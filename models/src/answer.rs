//! The answer to one request.

use crate::message::{AssistantMessage, AssistantPart};
use serde::{Deserialize, Serialize};
use std::ops::{Add, AddAssign};
use toolkit::ToolCall;

/// The answer to one request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Answer {
    /// The message. It holds whole tool calls only: a call that was cut off is left out.
    pub message: AssistantMessage,
    /// Why the answer ended.
    pub stop: StopReason,
    /// The tokens that it took, if the provider says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The configured name of the model that answered: another one than the first if that had to be replaced.
    pub model: String,
}

impl Answer {
    /// Returns an answer with this message; it ended by itself, or to have its tools called.
    pub fn new(message: AssistantMessage) -> Self {
        let has_calls = message.content.iter().any(|part| matches!(part, AssistantPart::ToolCall(_)));
        let stop = if has_calls { StopReason::ToolCalls } else { StopReason::End };
        Self { message, stop, usage: None, model: String::new() }
    }

    /// Returns an answer with one text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(AssistantMessage::text(text))
    }

    /// Returns an answer with these tool calls.
    pub fn calls(calls: impl IntoIterator<Item = ToolCall>) -> Self {
        Self::new(AssistantMessage::calls(calls))
    }

    /// Sets why the answer ended.
    #[must_use]
    pub fn with_stop(mut self, stop: StopReason) -> Self {
        self.stop = stop;
        self
    }

    /// Sets the tokens that it took.
    #[must_use]
    pub const fn with_usage(mut self, usage: Usage) -> Self {
        self.usage = Some(usage);
        self
    }

    /// Sets the name of the model that answered.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.model = model.into();
        self
    }
}

/// Why an answer ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopReason {
    /// The model was done.
    End,
    /// The model calls tools and waits for their results.
    ToolCalls,
    /// The limit of tokens was reached, of the answer or of the context window.
    MaxTokens,
    /// The model refuses to answer.
    Refusal,
    /// The provider withheld the answer, or the rest of it.
    ContentFilter,
    /// Any other reason, as the provider calls it.
    Other(String),
}

/// The tokens that requests took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct Usage {
    /// Tokens of the request, those from and into a cache included.
    pub input_tokens: u64,
    /// Tokens of the request that came from the provider's cache.
    pub cached_tokens: u64,
    /// Tokens of the request that were written into the provider's cache.
    pub cache_write_tokens: u64,
    /// Tokens of the answer, those of reasoning included.
    pub output_tokens: u64,
    /// Tokens of reasoning, if the provider counts them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning_tokens: Option<u64>,
}

impl Usage {
    /// Returns the tokens of a request and its answer.
    pub const fn new(input_tokens: u64, output_tokens: u64) -> Self {
        Self { input_tokens, output_tokens, cached_tokens: 0, cache_write_tokens: 0, reasoning_tokens: None }
    }

    /// Sets the tokens that came from the provider's cache.
    #[must_use]
    pub const fn with_cached_tokens(mut self, tokens: u64) -> Self {
        self.cached_tokens = tokens;
        self
    }

    /// Sets the tokens that were written into the provider's cache.
    #[must_use]
    pub const fn with_cache_write_tokens(mut self, tokens: u64) -> Self {
        self.cache_write_tokens = tokens;
        self
    }

    /// Sets the tokens of reasoning.
    #[must_use]
    pub const fn with_reasoning_tokens(mut self, tokens: u64) -> Self {
        self.reasoning_tokens = Some(tokens);
        self
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Add for Usage {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        let reasoning_tokens = match (self.reasoning_tokens, other.reasoning_tokens) {
            (Some(one), Some(other)) => Some(one.saturating_add(other)),
            (one, other) => one.or(other),
        };
        Self {
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            cached_tokens: self.cached_tokens.saturating_add(other.cached_tokens),
            cache_write_tokens: self.cache_write_tokens.saturating_add(other.cache_write_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            reasoning_tokens,
        }
    }
}

impl std::iter::Sum for Usage {
    fn sum<I: Iterator<Item = Self>>(usages: I) -> Self {
        usages.fold(Self::default(), Add::add)
    }
}
