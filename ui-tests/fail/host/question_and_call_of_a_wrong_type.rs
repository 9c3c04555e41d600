// errors: 2
use toolkit::prelude::*;

struct Address;

/// Sends a parcel.
#[tool]
async fn send(ctx: &ToolContext) -> Result<String, ToolError> {
    let _ = ctx.elicit::<Address>("Where to?").await?;
    let sent = ctx.call("post", Address).await?;
    Ok(sent.to_text())
}

fn main() {}
