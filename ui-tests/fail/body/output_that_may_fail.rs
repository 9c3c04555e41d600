// errors: 1
use toolkit::prelude::*;

/// Returns a list.
#[tool(read_only)]
async fn list() -> ToolOutput {
    let list = vec![1, 2];
    ToolOutput::json(&list)
}

fn main() {}
