// errors: 2
use toolkit::prelude::*;

struct Database(String);

/// Names the database.
#[tool(read_only)]
async fn name(ctx: &ToolContext) -> Result<String, ToolError> {
    let database = ctx.state::<Database>()?;
    Ok(database.0.0.clone())
}

/// Names it again.
#[tool(read_only)]
async fn name_again(ctx: &ToolContext) -> Result<String, ToolError> {
    Ok(ctx.get_service::<Database>()?.0.0.clone())
}

fn main() {}
