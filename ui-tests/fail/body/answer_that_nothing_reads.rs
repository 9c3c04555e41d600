// errors: 2
use toolkit::prelude::*;

/// Deletes a file.
#[tool(asks)]
async fn delete(ctx: &ToolContext) -> Result<String, ToolError> {
    ctx.ask(Ask::new("delete", "Delete it?")).await;
    Ok("deleted".to_owned())
}

/// Deletes a file.
#[tool(asks)]
async fn delete_without_await(ctx: &ToolContext) -> Result<String, ToolError> {
    if ctx.is_cancelled() {
        return Ok("cancelled".to_owned());
    }
    ctx.ask(Ask::new("delete", "Delete it?"));
    Ok("deleted".to_owned())
}

fn main() {}
