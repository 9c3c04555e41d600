//! `toolkit`: the parameters are the function's own, and linking registers the tool.

use super::contender::{Contender, repeat, with_last};

pub(super) struct Ours;

impl Contender for Ours {
    fn name(&self) -> &'static str {
        "ours"
    }

    fn dependencies(&self) -> &'static str {
        // Relative to `bench/target/<benchmark>/ours`.
        r#"toolkit = { package = "agent-toolkit", path = "../../../../toolkit" }
serde_json = "1"
tokio = { version = "1", features = ["macros", "rt"] }
"#
    }

    fn source(&self, tools: usize) -> String {
        format!("use toolkit::prelude::*;\n{}{}", repeat(TOOL, tools), with_last(MAIN, tools))
    }
}

const TOOL: &str = r#"
/// Greets number NUMBER.
#[tool(group = "bench", read_only)]
async fn tool_NUMBER(
    /// Whom to greet.
    name: String,
    /// How many times.
    #[arg(default = 1)]
    count: u32,
    /// If true, shouts.
    loud: Option<bool>,
) -> String {
    format!("{name} {count} {loud:?} NUMBER")
}
"#;

const MAIN: &str = r#"
#[tokio::main(flavor = "current_thread")]
async fn main() {
    let toolkit = Toolkit::builder().without_asking_first().build().expect("toolkit");
    let toolbox = toolkit.toolbox(&Caller::default()).await;
    println!("{}", toolbox.definitions().len());
    for (name, arguments) in [
        ("tool_0", serde_json::json!({ "name": "Ada" })),
        ("tool_LAST", serde_json::json!({ "name": "Ada", "count": 3, "loud": true })),
    ] {
        let result = toolbox.call(ToolCall::new("1", name, arguments)).await;
        println!("{}", result.text());
    }
}
"#;
