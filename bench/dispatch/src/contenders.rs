//! Everything that is compared.
#![allow(clippy::unused_async, reason = "a tool is async, whether or not it waits")]

mod hand_written;
mod llm_tool;
mod no_call;
mod ours;
mod rig;
mod rmcp;
mod tools_rs;

pub use ours::toolkit_of;
use tokio::runtime::Runtime;

use crate::Subject;

/// The name of toolkit with its history switched on.
pub const TOOLKIT_WITH_HISTORY: &str = "toolkit with history";

/// The contenders by name, in the order of the report.
pub fn all(runtime: &Runtime) -> Vec<(&'static str, Box<dyn Subject>)> {
    let mut all: Vec<(&'static str, Box<dyn Subject>)> = vec![
        ("no call", Box::new(no_call::NoCall)),
        ("hand-written", Box::new(hand_written::HandWritten::new())),
        ("toolkit", Box::new(ours::Ours::new(runtime))),
    ];
    if let Some(with_history) = ours::Ours::with_history(runtime) {
        all.push((TOOLKIT_WITH_HISTORY, Box::new(with_history)));
    }
    all.extend([
        ("llm-tool", Box::new(llm_tool::LlmTool::new()) as Box<dyn Subject>),
        ("tools-rs", Box::new(tools_rs::ToolsRs::new())),
        ("rmcp", Box::new(rmcp::Rmcp::new(runtime))),
        ("rig", Box::new(rig::Rig::new())),
    ]);
    all
}
