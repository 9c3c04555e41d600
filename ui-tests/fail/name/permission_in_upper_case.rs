// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool(permission = "Edit")]
fn read(path: String) -> String {
    path
}

fn main() {}
