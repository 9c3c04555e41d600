// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool(read_only(true))]
fn read(lines: u32) -> String {
    lines.to_string()
}

fn main() {}
