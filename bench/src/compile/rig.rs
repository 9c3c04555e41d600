//! rig: `#[rig_tool]` functions in the tool set of its agent. It declares no default other than a type's own:
//! an `Option` stands for it.

use super::contender::{Contender, repeat, with_last};

pub(super) struct Rig;

impl Contender for Rig {
    fn name(&self) -> &'static str {
        "rig"
    }

    fn dependencies(&self) -> &'static str {
        r#"rig = { version = "=0.44.0", default-features = false, features = ["agent", "derive"] }
serde_json = "1"
tokio = { version = "1", features = ["macros", "rt"] }
"#
    }

    fn source(&self, tools: usize) -> String {
        [
            HEAD,
            &repeat(TOOL, tools),
            "\nfn tools() -> ToolSet {\n    let mut tools = ToolSet::default();\n",
            &repeat("    tools.add_tool(ToolNUMBER);\n", tools),
            "    tools\n}\n",
            &with_last(MAIN, tools),
        ]
        .concat()
    }
}

const HEAD: &str = r#"use rig::agent::tool::ToolSet;
use rig::rig_tool;
use rig::tool::{ToolContext, ToolExecutionError};
use serde_json::json;
"#;

const TOOL: &str = r#"
/// Greets number NUMBER.
#[rig_tool]
async fn tool_NUMBER(
    /// Whom to greet.
    name: String,
    /// How many times.
    count: Option<u32>,
    /// If true, shouts.
    loud: Option<bool>,
) -> Result<String, ToolExecutionError> {
    let count = count.unwrap_or(1);
    Ok(format!("{name} {count} {loud:?} NUMBER"))
}
"#;

const MAIN: &str = r#"
#[tokio::main(flavor = "current_thread")]
async fn main() {
    let tools = tools();
    println!("{}", tools.tool_definitions().len());
    for (name, arguments) in [
        ("tool_0", json!({ "name": "Ada" })),
        ("tool_LAST", json!({ "name": "Ada", "count": 3, "loud": true })),
    ] {
        let result = tools.execute(name, arguments.to_string(), &mut ToolContext::new()).await;
        println!("{}", result.output().render());
    }
}
"#;
