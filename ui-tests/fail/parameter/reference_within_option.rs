// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(lines: Option<&u32>) -> String {
    lines.is_some().to_string()
}

fn main() {}
