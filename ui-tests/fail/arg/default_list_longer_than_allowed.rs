// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(#[arg(default = [1, 2, 3], length(1..3))] lines: &[u32]) -> String {
    lines.len().to_string()
}

fn main() {}
