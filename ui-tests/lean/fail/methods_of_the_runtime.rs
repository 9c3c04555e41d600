// errors: 6
use toolkit::prelude::*;

#[toolkit::args]
struct Settings {
    word: Option<String>,
}

/// Calls another tool.
#[tool(read_only)]
async fn calls(ctx: &ToolContext) -> Result<String, ToolError> {
    let output = ctx.call("add", "{}").await?;
    Ok(output.to_text())
}

/// Checks a path.
#[tool(read_only)]
async fn checks(ctx: &ToolContext, path: PathBuf) -> Result<String, ToolError> {
    let real = ctx.check_file_access(&path, "read").await?;
    Ok(real.display().to_string())
}

/// Runs blocking work.
#[tool(read_only)]
async fn blocks(ctx: &ToolContext) -> Result<u32, ToolError> {
    let count: u32 = ctx.blocking(|_| Ok(1)).await?;
    Ok(count)
}

/// Reads its section.
#[tool(read_only)]
async fn reads(ctx: &ToolContext) -> Result<String, ToolError> {
    let settings: Settings = ctx.config()?;
    Ok(settings.word.unwrap_or_default())
}

/// Asks for a value.
#[tool(read_only)]
async fn elicits(ctx: &ToolContext) -> Result<bool, ToolError> {
    Ok(ctx.elicit::<Settings>("Which word?").await?.is_some())
}

fn tests() -> ToolContext {
    ToolContext::detached(Caller::new())
}

fn main() {}
