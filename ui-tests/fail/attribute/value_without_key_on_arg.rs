// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(#[arg(5)] lines: u32) -> String {
    lines.to_string()
}

fn main() {}
