// errors: 2
use toolkit::prelude::*;

struct Store;

#[toolkit::service]
async fn store(ctx: &ToolContext) -> Store {
    drop(ctx.workspace_dir().to_owned());
    Store
}

#[toolkit::tool_factory]
async fn tools(ctx: &ToolContext) -> Vec<Tool> {
    drop(ctx.workspace_dir().to_owned());
    Vec::new()
}

fn main() {}
