// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(#[arg(length(5..=1))] path: String) -> String {
    path
}

fn main() {}
