// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(path: &str) -> Result<&str, ToolError> {
    Ok(path)
}

fn main() {
    drop(read(""));
}
