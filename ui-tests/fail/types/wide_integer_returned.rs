// errors: 1
use toolkit::prelude::*;

/// Counts.
#[tool]
fn count(path: String) -> Result<Vec<u128>, ToolError> {
    drop(path);
    Ok(Vec::new())
}

fn main() {}
