// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
async fn read<'a>(ctx: &'a ToolContext, path: &'a str) -> &'a str {
    drop(ctx);
    path
}

fn main() {}
