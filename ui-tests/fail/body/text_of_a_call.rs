// errors: 1
use toolkit::prelude::*;

/// Counts through another tool.
#[tool(read_only)]
async fn count(ctx: &ToolContext) -> Result<String, ToolError> {
    Ok(ctx.call("count_all", "{}").await?.text())
}

fn main() {}
