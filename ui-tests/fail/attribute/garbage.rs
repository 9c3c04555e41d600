// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool(=> ; 5)]
fn read(lines: u32) -> String {
    lines.to_string()
}

fn main() {
    read(1);
}
