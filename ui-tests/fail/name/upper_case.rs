// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool(name = "ReadFile")]
fn read(path: String) -> String {
    path
}

fn main() {}
