//! llm-tool: a function in its registry, called by name. It declares no default: an `Option` stands for it.

use ::llm_tool::{ToolContext, ToolError, ToolOutput, ToolRegistry, llm_tool};
use serde_json::Value;

use crate::Contender;

pub(super) struct LlmTool {
    tools: ToolRegistry,
    context: ToolContext,
}

/// Repeats a text.
#[llm_tool]
async fn repeat(
    /// The text to repeat.
    text: String,
    /// How many times.
    count: Option<u32>,
    /// If true, shouts.
    upper: Option<bool>,
) -> String {
    crate::repeat(text, count.unwrap_or(1), upper)
}

impl LlmTool {
    pub(super) fn new() -> Self {
        let mut tools = ToolRegistry::new();
        tools.register(Repeat);
        Self { tools, context: ToolContext::new() }
    }
}

impl Contender for LlmTool {
    type Parsed = Value;
    type Text = String;
    type Answer = Result<ToolOutput, ToolError>;

    fn parsed(&self, arguments: Value) -> Value {
        arguments
    }

    fn text(&self, arguments: &str) -> String {
        arguments.to_owned()
    }

    async fn call_parsed(&self, call: Value) -> Self::Answer {
        self.tools.dispatch("repeat", call, &self.context).await
    }

    async fn call_text(&self, call: String) -> Self::Answer {
        self.tools.dispatch_str("repeat", &call, &self.context).await
    }

    fn returned(answer: Self::Answer) -> String {
        answer.expect("an answer").content().to_owned()
    }
}
