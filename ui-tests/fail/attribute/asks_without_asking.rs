// errors: 2
use toolkit::prelude::*;

/// Deletes a file.
#[tool(asks)]
async fn delete(_ctx: &ToolContext, path: String) -> String {
    path
}

/// Sends a message.
#[tool(always_asks)]
fn send(_: &ToolContext, text: String) -> String {
    text
}

fn main() {}
