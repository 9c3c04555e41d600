// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(path: String, other: Option<Self>) -> String {
    path
}

fn main() {}
