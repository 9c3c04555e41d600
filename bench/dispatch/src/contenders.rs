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

/// The contenders by name, in the order of the report.
pub fn all(runtime: &Runtime) -> Vec<(&'static str, Box<dyn Subject>)> {
    vec![
        ("no call", Box::new(no_call::NoCall)),
        ("hand-written", Box::new(hand_written::HandWritten::new())),
        ("toolkit", Box::new(ours::Ours::new(runtime))),
        ("toolkit with policy", Box::new(ours::Ours::with_policy(runtime))),
        ("toolkit with history", Box::new(ours::Ours::with_memory(runtime))),
        ("toolkit with file", Box::new(ours::Ours::with_file(runtime))),
        ("llm-tool", Box::new(llm_tool::LlmTool::new())),
        ("tools-rs", Box::new(tools_rs::ToolsRs::new())),
        ("rmcp", Box::new(rmcp::Rmcp::new(runtime))),
        ("rig", Box::new(rig::Rig::new())),
    ]
}
