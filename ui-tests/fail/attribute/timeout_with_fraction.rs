// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool(timeout = "1.5s")]
fn read(lines: u32) -> String {
    lines.to_string()
}

fn main() {}
