// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(#[arg(range(..=99999999999999999999))] lines: u64) -> String {
    lines.to_string()
}

fn main() {}
