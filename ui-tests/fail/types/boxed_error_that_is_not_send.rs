// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(path: String) -> Result<String, Box<dyn std::error::Error>> {
    Ok(path)
}

fn main() {}
