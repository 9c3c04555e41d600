// errors: 1
use toolkit::prelude::*;

/// Counts to a number.
#[tool(read_only)]
async fn count_to(ctx: &ToolContext, end: u32) -> Result<(), ToolError> {
    let mut output = ctx.output();
    for number in 0..end {
        writeln!(output, "{number}")?;
    }
    Ok(())
}

fn main() {}
