//! llm-tool: `#[llm_tool]` functions put into its registry. It declares no default: an `Option` stands for it.

use super::contender::{Contender, repeat, with_last};

pub(super) struct LlmTool;

impl Contender for LlmTool {
    fn name(&self) -> &'static str {
        "llm-tool"
    }

    fn dependencies(&self) -> &'static str {
        r#"llm-tool = "=0.10.5"
schemars = "1"
serde = { version = "1", features = ["derive"] }
serde_json = "1"
tokio = { version = "1", features = ["macros", "rt"] }
"#
    }

    fn source(&self, tools: usize) -> String {
        [
            HEAD,
            &repeat(TOOL, tools),
            "\nfn tools() -> ToolRegistry {\n    let mut tools = ToolRegistry::new();\n",
            &repeat("    tools.register(ToolNUMBER);\n", tools),
            "    tools\n}\n",
            &with_last(MAIN, tools),
        ]
        .concat()
    }
}

const HEAD: &str = r#"use llm_tool::{ToolContext, ToolRegistry, llm_tool};
use serde_json::json;
"#;

const TOOL: &str = r#"
/// Greets number NUMBER.
#[llm_tool]
async fn tool_NUMBER(
    /// Whom to greet.
    name: String,
    /// How many times.
    count: Option<u32>,
    /// If true, shouts.
    loud: Option<bool>,
) -> String {
    let count = count.unwrap_or(1);
    format!("{name} {count} {loud:?} NUMBER")
}
"#;

const MAIN: &str = r#"
#[tokio::main(flavor = "current_thread")]
async fn main() {
    let tools = tools();
    println!("{}", tools.definitions().len());
    let context = ToolContext::new();
    for (name, arguments) in [
        ("tool_0", json!({ "name": "Ada" })),
        ("tool_LAST", json!({ "name": "Ada", "count": 3, "loud": true })),
    ] {
        println!("{}", tools.dispatch(name, arguments, &context).await.expect("call").content());
    }
}
"#;
