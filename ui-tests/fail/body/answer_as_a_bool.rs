// errors: 7
use toolkit::prelude::*;

/// Deletes a file.
#[tool(asks)]
async fn delete(ctx: &ToolContext) -> Result<String, ToolError> {
    if !ctx.ask(Ask::new("delete", "Delete it?")).await? {
        return Err(ToolError::denied("the answer is no"));
    }
    Ok("deleted".to_owned())
}

/// Deletes a file.
#[tool(asks)]
async fn delete_without_question_mark(ctx: &ToolContext) -> Result<String, ToolError> {
    if ctx.ask(Ask::new("delete", "Delete it?")).await {
        return Ok("deleted".to_owned());
    }
    Err(ToolError::denied("the answer is no"))
}

/// Deletes a file.
#[tool(asks)]
async fn delete_with_a_name(ctx: &ToolContext) -> Result<String, ToolError> {
    let allowed = ctx.ask(Ask::new("delete", "Delete it?")).await?;
    if !allowed {
        return Err(ToolError::denied("the answer is no"));
    }
    Ok("deleted".to_owned())
}

/// Deletes a file.
#[tool(asks)]
async fn delete_with_another_condition(ctx: &ToolContext, force: bool) -> Result<String, ToolError> {
    if !force && !ctx.ask(Ask::new("delete", "Delete it?")).await? {
        return Err(ToolError::denied("the answer is no"));
    }
    Ok("deleted".to_owned())
}

/// Deletes a file.
#[tool(asks)]
async fn delete_by_a_match(ctx: &ToolContext) -> Result<String, ToolError> {
    match ctx.ask(Ask::new("delete", "Delete it?")).await {
        Answer::Allow => Ok("deleted".to_owned()),
        _ => Err(ToolError::denied("the answer is no")),
    }
}

/// Deletes a file.
#[tool(asks)]
async fn delete_by_a_match_of_flags(ctx: &ToolContext) -> Result<String, ToolError> {
    match ctx.ask(Ask::new("delete", "Delete it?")).await? {
        true => Ok("deleted".to_owned()),
        false => Err(ToolError::denied("the answer is no")),
    }
}

struct Files;

#[toolkit::tools]
impl Files {
    /// Deletes a file.
    #[tool(asks)]
    async fn delete_by_a_method(&self, ctx: &ToolContext) -> Result<String, ToolError> {
        if !ctx.ask(Ask::new("delete", "Delete it?")).await? {
            return Err(ToolError::denied("the answer is no"));
        }
        Ok("deleted".to_owned())
    }
}

fn main() {}
