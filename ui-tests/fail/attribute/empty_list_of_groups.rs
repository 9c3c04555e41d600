// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool(group = [])]
fn read(path: String) -> String {
    path
}

fn main() {}
