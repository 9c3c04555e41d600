// errors: 1
use toolkit::prelude::*;

const PATTERN: &str = "^a$";

/// Reads a file.
#[tool]
fn read(#[arg(pattern = PATTERN)] path: String) -> String {
    path
}

fn main() {}
