// errors: 9
use toolkit::prelude::*;

struct Db;

/// Uses a context as that of another library.
#[tool(asks)]
async fn act(ctx: &ToolContext) -> Result<String, ToolError> {
    let db = ctx.get::<Db>();
    if !ctx.confirm("Really?").await? {
        return Err(ToolError::denied("the answer is no"));
    }
    ctx.report_progress(1, 10).await;
    ctx.info("begun");
    ctx.println("a line");
    let other = ctx.call_tool("other", ()).await?;
    let directory = ctx.working_dir().join("notes");
    let name = ctx.args()["name"].to_string();
    let session = ctx.session().id();
    drop((db, other, directory, name, session));
    Ok("done".to_owned())
}

fn main() {}
