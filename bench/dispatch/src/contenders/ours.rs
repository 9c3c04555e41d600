//! `toolkit`, with everything that its call path does by default and a policy that is asked; history off, or on.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::runtime::Runtime;
use toolkit::prelude::*;
use toolkit::{Builder, Tool, Toolbox, history::{JsonlHistory, JsonlOptions, MemoryHistory}, inspection::LoopGuard, policy::{Policy, Refusal}, text::Redactor};

use crate::{Contender, policy};

pub(super) struct Ours {
    toolbox: Toolbox,
    file: Option<File>,
}

/// A history that is written, and its directory.
struct File {
    history: Arc<JsonlHistory>,
    directory: PathBuf,
}

/// Allows everything, through the interface that every policy has.
#[derive(Debug)]
struct AllowAll;

impl Policy for AllowAll {
    fn check(&self, _: &Caller, _: &Tool) -> Result<(), Refusal> {
        Ok(())
    }
}

/// Repeats a text.
#[tool(group = "bench", read_only)]
async fn repeat(
    /// The text to repeat.
    text: String,
    /// How many times.
    #[arg(default = 1)]
    count: u32,
    /// If true, shouts.
    upper: Option<bool>,
) -> String {
    crate::repeat(text, count, upper)
}

/// The tool that is called.
pub fn toolkit_of(names: impl Iterator<Item = String>) -> Vec<Tool> {
    let tool = toolkit::tool_ref!(repeat);
    names.map(|name| tool.named(name)).collect()
}

impl Ours {
    pub(super) fn new(runtime: &Runtime) -> Self {
        Self::of(runtime, Self::builder())
    }

    /// The policy of seven layers instead of one that allows everything.
    pub(super) fn with_policy(runtime: &Runtime) -> Self {
        let toolkit = Self::builder().policy(policy::seven_layers()).build().expect("a toolkit");
        Self { toolbox: runtime.block_on(toolkit.toolbox(&policy::caller())), file: None }
    }

    pub(super) fn with_memory(runtime: &Runtime) -> Self {
        let history = MemoryHistory::new(Redactor::new());
        Self::of(runtime, Self::builder().history(Arc::new(history)))
    }

    pub(super) fn with_file(runtime: &Runtime) -> Self {
        let directory = std::env::temp_dir().join(format!("toolkit-bench-history-{}", std::process::id()));
        let history = JsonlHistory::open(directory.join("history.jsonl"), JsonlOptions::default());
        let history = Arc::new(history.expect("a directory"));
        let builder = Self::builder().history(Arc::clone(&history));
        Self { file: Some(File { history, directory }), ..Self::of(runtime, builder) }
    }

    fn builder() -> Builder {
        // Nothing is cut here, so nothing is kept; but nothing may touch the user's directory.
        let data_dir = std::env::temp_dir().join("toolkit-bench-unused");
        // Calling the same again and again is what is measured.
        Toolkit::empty()
            .tool(toolkit::tool_ref!(repeat))
            .policy(AllowAll)
            .loop_guard(LoopGuard::off())
            .data_dir(data_dir)
    }

    fn of(runtime: &Runtime, builder: Builder) -> Self {
        let toolkit = builder.build().expect("a toolkit");
        Self { toolbox: runtime.block_on(toolkit.toolbox(&Caller::new())), file: None }
    }
}

/// Nobody reads it.
impl Drop for File {
    fn drop(&mut self) {
        self.history.flush(Duration::from_secs(10));
        let _ = fs::remove_dir_all(&self.directory);
    }
}

impl Contender for Ours {
    type Parsed = ToolCall;
    type Text = ToolCall;
    type Answer = ToolResult;

    fn settle(&self) {
        if let Some(File { history, .. }) = &self.file {
            assert!(history.flush(Duration::from_secs(10)), "the disk takes what is recorded");
        }
    }

    fn parsed(&self, arguments: Value) -> ToolCall {
        ToolCall::new("call_1", "repeat", arguments)
    }

    fn text(&self, arguments: &str) -> ToolCall {
        ToolCall::new("call_1", "repeat", arguments)
    }

    fn call_parsed(&self, call: ToolCall) -> impl Future<Output = ToolResult> {
        self.toolbox.call(call)
    }

    fn call_text(&self, call: ToolCall) -> impl Future<Output = ToolResult> {
        self.toolbox.call(call)
    }

    fn returned(answer: ToolResult) -> String {
        answer.outcome.expect("an answer").to_text()
    }
}
