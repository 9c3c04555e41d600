// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool(name = read)]
fn read(path: String) -> String {
    path
}

fn main() {}
