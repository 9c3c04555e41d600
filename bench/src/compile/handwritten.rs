//! No framework: a serde struct and an async function a tool, boxed into a map by name.

use super::contender::{Contender, repeat, with_last};

pub(super) struct HandWritten;

impl Contender for HandWritten {
    fn name(&self) -> &'static str {
        "hand-written"
    }

    fn dependencies(&self) -> &'static str {
        r#"schemars = "1"
serde = { version = "1", features = ["derive"] }
serde_json = "1"
tokio = { version = "1", features = ["macros", "rt"] }
"#
    }

    fn source(&self, tools: usize) -> String {
        [
            HEAD,
            &repeat(TOOL, tools),
            "\nfn tools() -> HashMap<String, Tool> {\n    let mut tools = HashMap::new();\n",
            &repeat(ENTRY, tools),
            "    tools\n}\n",
            &with_last(MAIN, tools),
        ]
        .concat()
    }
}

const HEAD: &str = r#"use std::collections::HashMap;
use std::pin::Pin;

use schemars::{JsonSchema, Schema, schema_for};
use serde::Deserialize;
use serde_json::{Value, json};

type Output = Pin<Box<dyn Future<Output = Result<String, serde_json::Error>> + Send>>;

struct Tool {
    description: &'static str,
    parameters: Schema,
    run: Box<dyn Fn(Value) -> Output + Send + Sync>,
}

fn once() -> u32 {
    1
}
"#;

const TOOL: &str = r#"
#[derive(Deserialize, JsonSchema)]
struct ToolNUMBER {
    /// Whom to greet.
    name: String,
    /// How many times.
    #[serde(default = "once")]
    count: u32,
    /// If true, shouts.
    loud: Option<bool>,
}

async fn tool_NUMBER(ToolNUMBER { name, count, loud }: ToolNUMBER) -> String {
    format!("{name} {count} {loud:?} NUMBER")
}
"#;

const ENTRY: &str = r#"    tools.insert(
        "tool_NUMBER".to_owned(),
        Tool {
            description: "Greets number NUMBER.",
            parameters: schema_for!(ToolNUMBER),
            run: Box::new(|arguments| {
                Box::pin(async move { Ok(tool_NUMBER(serde_json::from_value(arguments)?).await) })
            }),
        },
    );
"#;

const MAIN: &str = r#"
#[tokio::main(flavor = "current_thread")]
async fn main() {
    let tools = tools();
    let definitions: Vec<Value> = tools
        .iter()
        .map(|(name, tool)| {
            json!({ "name": name, "description": tool.description, "parameters": tool.parameters })
        })
        .collect();
    println!("{}", definitions.len());
    for (name, arguments) in [
        ("tool_0", json!({ "name": "Ada" })),
        ("tool_LAST", json!({ "name": "Ada", "count": 3, "loud": true })),
    ] {
        println!("{}", (tools[name].run)(arguments).await.expect("arguments"));
    }
}
"#;
