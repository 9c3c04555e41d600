//! rig: a function in the tool set of its agent. It takes text only, so a parsed value is written as text first. It
//! declares no default: an `Option` stands for it.

use ::rig::agent::tool::ToolSet;
use ::rig::rig_tool;
use ::rig::tool::{ToolContext, ToolExecutionError, ToolResult};
use serde_json::Value;

use crate::Contender;

pub(super) struct Rig(ToolSet);

/// Repeats a text.
#[rig_tool]
async fn repeat(
    /// The text to repeat.
    text: String,
    /// How many times.
    count: Option<u32>,
    /// If true, shouts.
    upper: Option<bool>,
) -> Result<String, ToolExecutionError> {
    Ok(crate::repeat(text, count.unwrap_or(1), upper))
}

impl Rig {
    pub(super) fn new() -> Self {
        let mut tools = ToolSet::default();
        tools.add_tool(Repeat);
        Self(tools)
    }
}

impl Contender for Rig {
    type Parsed = Value;
    type Text = String;
    type Answer = ToolResult;

    fn parsed(&self, arguments: Value) -> Value {
        arguments
    }

    fn text(&self, arguments: &str) -> String {
        arguments.to_owned()
    }

    async fn call_parsed(&self, call: Value) -> Self::Answer {
        self.call_text(call.to_string()).await
    }

    async fn call_text(&self, call: String) -> Self::Answer {
        self.0.execute("repeat", call, &mut ToolContext::new()).await
    }

    fn returned(answer: Self::Answer) -> String {
        answer.output().render()
    }
}
