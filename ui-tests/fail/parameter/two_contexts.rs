// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
async fn read(ctx: &ToolContext, path: String, again: &ToolContext) -> String {
    drop((ctx, again));
    path
}

fn main() {
    let context = ToolContext::detached(Caller::new());
    drop(read(&context, String::new(), &context));
}
