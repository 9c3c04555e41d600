// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool(format_error = worded)]
fn read(path: String) -> String {
    path
}

fn main() {}
