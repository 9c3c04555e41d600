// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(path: String) -> Result<String, String> {
    Ok(path)
}

fn main() {}
