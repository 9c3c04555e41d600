// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool(alias = "read")]
fn read(path: String) -> String {
    path
}

fn main() {}
