// errors: 1

/// Reads a file.
#[toolkit::tool]
async fn read(ctx: &ToolContext, path: String) -> String {
    format!("{}{path}", ctx.name())
}

fn main() {}
