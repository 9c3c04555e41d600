//! The settings of the context window.

/// How a conversation is kept within the context window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContextSettings {
    /// The size of the context window in tokens, instead of the model's configured one. Without either, the conversation is shortened
    /// when the provider says that it is too long.
    pub window_tokens: Option<u64>,
    /// The most tokens of one answer, instead of the model's configured number.
    pub max_answer_tokens: Option<u32>,
}

impl ContextSettings {
    /// Returns the defaults: all by the configuration of the model.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the size of the context window in tokens.
    #[must_use]
    pub fn window_tokens(mut self, tokens: u64) -> Self {
        self.window_tokens = Some(tokens);
        self
    }

    /// Sets the most tokens of one answer.
    #[must_use]
    pub fn max_answer_tokens(mut self, tokens: u32) -> Self {
        self.max_answer_tokens = Some(tokens);
        self
    }
}
