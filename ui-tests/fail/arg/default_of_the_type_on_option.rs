// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(#[arg(default)] lines: Option<u32>) -> String {
    format!("{lines:?}")
}

fn main() {}
