// errors: 1
use toolkit::Context;
use toolkit::prelude::*;

/// Says who calls.
#[tool(read_only)]
async fn who(ctx: &Context) -> String {
    ctx.agent().unwrap_or("nobody").to_owned()
}

fn main() {}
