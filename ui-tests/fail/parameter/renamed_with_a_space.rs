// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(#[arg(rename = "file path")] path: String) -> String {
    path
}

fn main() {}
