//! A model of the host, for a configuration that names none for this plugin.

use serde_json::{Map, Value};
use std::pin::Pin;
use toolkit::prelude::*;

/// A model that does tasks. A host provides one as the service `dyn TaskModel`; `llm_task` uses it if `plugins.llm-task.model` is not set.
pub trait TaskModel: Send + Sync {
    /// Returns the name of the model, for records.
    fn name(&self) -> &str;

    /// Answers the last message.
    fn answer<'a>(&'a self, request: TaskRequest<'a>) -> TaskAnswering<'a>;
}

/// Future returned by [`TaskModel::answer`].
pub type TaskAnswering<'a> = Pin<Box<dyn Future<Output = Result<TaskAnswer, ToolError>> + Send + 'a>>;

/// A request to a model of the host.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct TaskRequest<'a> {
    /// The instructions.
    pub system: &'a str,
    /// The messages: the user's and the model's in turn, the first and the last of the user.
    pub messages: &'a [&'a str],
    /// The JSON Schema of the answer; the answer is validated in any case.
    pub schema: Option<&'a Map<String, Value>>,
    /// The most tokens of the answer.
    pub max_tokens: u32,
    /// On whose behalf it is asked, if that is known.
    pub caller: Option<&'a Caller>,
}

impl<'a> TaskRequest<'a> {
    /// Returns a request without a schema.
    pub const fn new(system: &'a str, messages: &'a [&'a str], max_tokens: u32) -> Self {
        Self { system, messages, schema: None, max_tokens, caller: None }
    }

    /// Sets the schema of the answer.
    #[must_use]
    pub const fn schema(mut self, schema: Option<&'a Map<String, Value>>) -> Self {
        self.schema = schema;
        self
    }

    /// Sets on whose behalf it is asked.
    #[must_use]
    pub const fn caller(mut self, caller: &'a Caller) -> Self {
        self.caller = Some(caller);
        self
    }
}

/// An answer of a model of the host.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskAnswer {
    /// The text.
    pub text: String,
    /// True if the answer was cut off at the limit of tokens.
    pub is_cut: bool,
    /// The tokens of the request; 0 if they are unknown.
    pub prompt_tokens: u64,
    /// The tokens of the answer; 0 if they are unknown.
    pub completion_tokens: u64,
}
