// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(#[arg(default = 256)] lines: u8) -> String {
    lines.to_string()
}

fn main() {}
