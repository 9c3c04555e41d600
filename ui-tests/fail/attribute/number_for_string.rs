// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool(title = 5)]
fn read(lines: u32) -> String {
    lines.to_string()
}

fn main() {}
