// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(#[arg(rename = "")] path: String) -> String {
    path
}

fn main() {}
