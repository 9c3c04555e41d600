// errors: 7
use toolkit::prelude::*;

/// Returns the port of a town.
#[tool(read_only)]
fn port(town: &str) -> Result<u16, ToolError> {
    Err(ToolError::not_found("no port of {}", town))
}

/// Counts.
#[tool(read_only)]
fn count(end: u32) -> ToolOutput {
    ToolOutput::text("{} notes", end)
}

/// Copies.
#[tool(auto_execute)]
async fn copy(ctx: &ToolContext, end: u32) {
    ctx.progress(Progress::new(1, end));
    ctx.log(LogMessage::new("copied"));
}

/// Deletes.
#[tool(asks)]
async fn delete(ctx: &ToolContext) -> Result<(), ToolError> {
    ctx.ask(Ask::new("Delete it?")).await
}

/// Draws.
#[tool(read_only)]
fn draw() -> Image {
    Image::new(vec![1, 2])
}

/// Draws twice.
#[tool(read_only)]
fn draw_twice() -> Vec<Content> {
    vec![Content::image(b"1"), Content::image(b"2", "image/png")]
}

fn main() {}
