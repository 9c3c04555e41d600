// errors: 7
use toolkit::prelude::*;

/// Deletes a file.
#[tool(asks)]
async fn delete(ctx: &ToolContext) -> Result<(), ToolError> {
    ctx.ask("Delete it?").await
}

/// Deletes a file.
#[tool(asks)]
async fn delete_named(ctx: &ToolContext, name: &str) -> Result<(), ToolError> {
    ctx.ask(format!("Delete {name}?")).await
}

/// Deletes a file.
#[tool(asks)]
async fn delete_with_kind(ctx: &ToolContext) -> Result<(), ToolError> {
    ctx.ask("delete", "Delete it?").await
}

/// Counts to a number.
#[tool(read_only)]
async fn count_to(ctx: &ToolContext, end: u32) {
    for number in 0..end {
        ctx.progress(number, end);
    }
}

/// Writes a line.
#[tool(read_only)]
async fn write_line(ctx: &ToolContext) {
    ctx.output("a line");
}

/// Logs a line.
#[tool(read_only)]
async fn log_line(ctx: &ToolContext) {
    ctx.log(LogLevel::Info, "a line");
}

/// Calls another tool.
#[tool(read_only)]
async fn call_another(ctx: &ToolContext) -> Result<String, ToolError> {
    Ok(ctx.call(ToolCall::new("1", "count_to", r#"{ "end": 3 }"#)).await?.to_text())
}

fn main() {}
