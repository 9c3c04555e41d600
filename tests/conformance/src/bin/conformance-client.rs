//! What the conformance tests start as a client: `conformance-client URL`, with the calls that it is to make in
//! `MCP_CONFORMANCE_CONTEXT`, if they want certain ones.

#![expect(clippy::print_stderr, reason = "the tests show it where something fails")]

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::error::Error;
use std::process::ExitCode;
use toolkit::{Answer, CallbackApprover, Caller, McpServerSettings, Question, ToolCall, Toolkit};
use toolkit_mcp::{ClientOptions, McpServers, ServerState};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Connects, lists the tools, and calls each with what its schema asks for.
async fn run() -> Result<(), Box<dyn Error>> {
    let url = std::env::args().nth(1).ok_or("the address is missing")?;
    let settings: McpServerSettings = serde_json::from_value(json!({"url": url}))?;
    let servers = McpServers::new(&BTreeMap::from([("tested".to_owned(), settings)]), ClientOptions::new());
    let approver = CallbackApprover::new(|ask| match ask.question() {
        Question::Elicit(_) => Answer::value(json!({})),
        _ => Answer::allow(),
    });
    let toolkit =
        Toolkit::empty().tool_source(servers.clone()).without_asking_first().approver(approver).build()?;
    servers.start(&toolkit).await;
    for status in servers.status() {
        eprintln!("{}: {:?}", status.name, status.state);
        if let ServerState::Failed { why } = status.state {
            return Err(why.into());
        }
    }
    let toolbox = toolkit.toolbox(&Caller::new()).await;
    let mut calls = wanted();
    if calls.is_empty() {
        for tool in toolbox.tools() {
            let schema = tool.input_schema().map_err(|error| error.to_string())?;
            calls.push((tool.name().to_owned(), arguments(schema)));
        }
        // What a server says of one tool is to come back to it unchanged.
        if let Some(other) = toolbox.tool("tested__json_schema_2020_12_tool") {
            let schema = other.input_schema().map_err(|error| error.to_string())?;
            calls.retain(|(_, arguments)| arguments.get("schema").is_none());
            calls.push(("tested__json_schema_echo".to_owned(), json!({"schema": schema})));
        }
    }
    for (number, (name, arguments)) in calls.into_iter().enumerate() {
        let result = toolbox.call(ToolCall::new(number.to_string(), &name, arguments)).await;
        eprintln!("{name}: {}", result.text());
    }
    servers.stop().await;
    Ok(())
}

/// The calls that the test wants.
fn wanted() -> Vec<(String, Value)> {
    let context = std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_default();
    let context: Value = serde_json::from_str(&context).unwrap_or_default();
    let calls = context["toolCalls"].as_array().into_iter().flatten();
    calls
        .map(|call| {
            (format!("tested__{}", call["name"].as_str().unwrap_or_default()), call["arguments"].clone())
        })
        .collect()
}

/// Something for each argument that has to be there.
fn arguments(schema: &Value) -> Value {
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    required
        .map(|name| {
            let value = match schema["properties"][name]["type"].as_str() {
                Some("number" | "integer") => json!(2),
                Some("boolean") => json!(true),
                Some("array") => json!([]),
                Some("object") => json!({}),
                _ => json!("text"),
            };
            (name.to_owned(), value)
        })
        .collect()
}
