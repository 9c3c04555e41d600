// errors: 8
use toolkit::prelude::*;

struct Db;

/// Runs a query.
#[tool(read_only)]
async fn query(ctx: &ToolContext) -> String {
    drop(ctx.state::<Db>());
    String::new()
}

async fn host() -> Result<(), BuildError> {
    let builder = Toolkit::builder().with_state(Db).register(tool_ref!(query));
    let builder = builder.config("toolkit.json5").deny(["exec"]);
    drop(builder.toolbox(&Caller::new()).await);
    let toolkit = builder.build()?;
    drop(toolkit.call(ToolCall::new("1", "query", ())).await.text());
    toolkit.close().await;
    Ok(())
}

fn main() {}
