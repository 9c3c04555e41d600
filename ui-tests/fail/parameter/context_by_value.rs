// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
async fn read(ctx: ToolContext, path: String) -> String {
    drop(ctx);
    path
}

fn main() {
    drop(read(ToolContext::detached(Caller::new()), String::new()));
}
