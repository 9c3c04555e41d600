// errors: 1
use toolkit::prelude::*;

/// Asks for a word.
#[tool]
async fn ask(ctx: &ToolContext) -> Result<String, ToolError> {
    let word = ctx.elicit::<String>("Which word?").await?;
    Ok(word.unwrap_or_default())
}

fn main() {}
