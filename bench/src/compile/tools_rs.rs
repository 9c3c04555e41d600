//! tools-rs: `#[tool]` functions that linking registers. It has no default and no description of a parameter:
//! an `Option` stands for the first, and the second is left out. Its macro names four crates that the user's
//! crate must therefore depend on.

use super::contender::{Contender, repeat, with_last};

pub(super) struct ToolsRs;

impl Contender for ToolsRs {
    fn name(&self) -> &'static str {
        "tools-rs"
    }

    fn dependencies(&self) -> &'static str {
        r#"tools-rs = "=0.3.3"
tools_core = "=0.3.3"
tools_macros = "=0.3.0"
inventory = "0.3"
serde = { version = "1", features = ["derive"] }
serde_json = "1"
tokio = { version = "1", features = ["macros", "rt"] }
"#
    }

    fn source(&self, tools: usize) -> String {
        [HEAD, &repeat(TOOL, tools), &with_last(MAIN, tools)].concat()
    }
}

const HEAD: &str = r#"use serde_json::json;
use tools_rs::{FunctionCall, collect_tools, tool};
"#;

const TOOL: &str = r#"
/// Greets number NUMBER.
#[tool]
async fn tool_NUMBER(name: String, count: Option<u32>, loud: Option<bool>) -> String {
    let count = count.unwrap_or(1);
    format!("{name} {count} {loud:?} NUMBER")
}
"#;

const MAIN: &str = r#"
#[tokio::main(flavor = "current_thread")]
async fn main() {
    let tools = collect_tools();
    println!("{}", tools.json().expect("definitions").as_array().expect("array").len());
    for (name, arguments) in [
        ("tool_0", json!({ "name": "Ada" })),
        ("tool_LAST", json!({ "name": "Ada", "count": 3, "loud": true })),
    ] {
        let response = tools.call(FunctionCall::new(name.to_owned(), arguments)).await.expect("call");
        println!("{}", response.result.as_str().expect("text"));
    }
}
"#;
