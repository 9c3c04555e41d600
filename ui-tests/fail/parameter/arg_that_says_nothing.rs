// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(#[arg] path: String) -> String {
    path
}

fn main() {}
