// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool(description = "Reads a text file.")]
fn read(path: String) -> String {
    path
}

fn main() {}
