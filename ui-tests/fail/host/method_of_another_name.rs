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
    drop(Toolkit::builder().with_state(Db));
    drop(Toolkit::builder().register(tool_ref!(query)));
    drop(Toolkit::builder().config("toolkit.json5"));
    drop(Toolkit::builder().deny(["exec"]));
    drop(Toolkit::builder().toolbox(&Caller::new()).await);
    let toolkit = Toolkit::builder().build()?;
    drop(toolkit.call(ToolCall::new("1", "query", ())).await.text());
    toolkit.close().await;
    Ok(())
}

fn main() {}
