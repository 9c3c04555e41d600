// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(#[arg(range(1..=10))] lines: Vec<u32>) -> String {
    lines.len().to_string()
}

fn main() {}
