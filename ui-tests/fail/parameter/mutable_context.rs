// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(ctx: &mut ToolContext) -> String {
    ctx.call_id().to_owned()
}

fn main() {}
