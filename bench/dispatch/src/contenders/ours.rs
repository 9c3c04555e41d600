//! `toolkit`, with everything that its call path does by default; history off, or on.

use serde_json::Value;
use tokio::runtime::Runtime;
use toolkit::prelude::*;
use toolkit::{Builder, Tool, Toolbox};

use crate::Contender;

pub(super) struct Ours(Toolbox);

/// Repeats a text.
#[tool(group = "bench", read_only)]
async fn repeat(
    /// What to repeat.
    text: String,
    /// How many times.
    #[arg(default = 1)]
    count: u32,
    /// Whether to shout.
    upper: Option<bool>,
) -> String {
    crate::repeat(text, count, upper)
}

/// The tool that is called.
pub fn toolkit_of(names: impl Iterator<Item = String>) -> Vec<Tool> {
    let tool = toolkit::tool_ref!(repeat);
    names.map(|name| tool.named(name)).collect()
}

/// Switches the history on; nothing while there is none.
fn switch_history_on(_: Builder) -> Option<Builder> {
    None
}

impl Ours {
    pub(super) fn new(runtime: &Runtime) -> Self {
        Self::of(runtime, Self::builder())
    }

    pub(super) fn with_history(runtime: &Runtime) -> Option<Self> {
        switch_history_on(Self::builder()).map(|builder| Self::of(runtime, builder))
    }

    fn builder() -> Builder {
        Toolkit::empty().tool(toolkit::tool_ref!(repeat))
    }

    fn of(runtime: &Runtime, builder: Builder) -> Self {
        let toolkit = builder.build().expect("a toolkit");
        Self(runtime.block_on(toolkit.toolbox(&Caller::new())))
    }
}

impl Contender for Ours {
    type Parsed = ToolCall;
    type Text = ToolCall;
    type Answer = ToolResult;

    fn parsed(&self, arguments: Value) -> ToolCall {
        ToolCall::new("call_1", "repeat", arguments)
    }

    fn text(&self, arguments: &str) -> ToolCall {
        ToolCall::new("call_1", "repeat", arguments)
    }

    fn call_parsed(&self, call: ToolCall) -> impl Future<Output = ToolResult> {
        self.0.call(call)
    }

    fn call_text(&self, call: ToolCall) -> impl Future<Output = ToolResult> {
        self.0.call(call)
    }

    fn returned(answer: ToolResult) -> String {
        answer.outcome.expect("an answer").to_text()
    }
}
