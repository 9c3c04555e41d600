// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn læse(path: String) -> String {
    path
}

fn main() {}
