// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(#[arg(example = 11, range(1..=10))] lines: Option<u32>) -> String {
    format!("{lines:?}")
}

fn main() {}
