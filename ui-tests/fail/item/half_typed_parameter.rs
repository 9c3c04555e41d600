// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(path) -> String {
    path
}

fn main() {}
