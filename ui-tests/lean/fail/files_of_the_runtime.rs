// errors: 2
use toolkit::prelude::*;

/// Reads a file.
#[tool(read_only)]
async fn reads(ctx: &ToolContext, path: PathBuf) -> Result<String, ToolError> {
    let file = ctx.workspace().open(&path).await?;
    Ok(format!("{file:?}"))
}

/// Resolves a path.
#[tool(read_only)]
async fn resolves(ctx: &ToolContext) -> Result<bool, ToolError> {
    Ok(ctx.decide_path("a", "read")?.is_allowed())
}

fn main() {}
