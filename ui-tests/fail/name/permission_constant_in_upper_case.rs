// errors: 1
use toolkit::prelude::*;

const PERMISSION: &str = "Edit";

/// Reads a file.
#[tool(permission = PERMISSION)]
fn read(path: String) -> String {
    path
}

fn main() {}
