// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(#[arg(alias = "path")] path: String) -> String {
    path
}

fn main() {}
