// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool(title = "")]
fn read(path: String) -> String {
    path
}

fn main() {}
