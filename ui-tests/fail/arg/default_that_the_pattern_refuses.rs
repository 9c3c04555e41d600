// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(#[arg(default = "A", pattern = "^[a-z]+$")] path: String) -> String {
    path
}

fn main() {}
