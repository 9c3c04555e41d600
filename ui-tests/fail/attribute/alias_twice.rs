// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool(alias = ["cat", "cat"])]
fn read(path: String) -> String {
    path
}

fn main() {}
