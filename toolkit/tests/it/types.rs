//! Types of arguments and of what tools return: their schema, what is wrong with a value, and what the function gets.

#![expect(clippy::unwrap_used, reason = "a test's helpers may panic too")]

mod errors;
mod numbers;
mod outputs;
mod times;

use serde_json::Value;
use toolkit::prelude::*;

/// The result of a call of a tool.
async fn result(tool: Tool, arguments: &str) -> ToolResult {
    let name = tool.name().to_owned();
    let toolkit = Toolkit::empty().tool(tool).without_asking_first().build().unwrap();
    let toolbox = toolkit.toolbox(&Caller::new()).await;
    toolbox.call(ToolCall::new("1", name, arguments)).await
}

/// The text of an answer.
async fn text(tool: Tool, arguments: &str) -> String {
    let result = result(tool, arguments).await;
    assert!(!result.is_error(), "{arguments}: {}", result.text());
    result.text()
}

/// The problems of arguments that do not fit, one a line.
async fn problems(tool: Tool, arguments: &str) -> String {
    let result = result(tool, arguments).await;
    let error = result.outcome.as_ref().unwrap_err();
    let problems = error.problems().unwrap_or_else(|| panic!("{arguments}: {error}"));
    problems.problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// The schema of a parameter.
fn schema(tool: &Tool, parameter: &str) -> Value {
    tool.input_schema().unwrap()["properties"][parameter].clone()
}
