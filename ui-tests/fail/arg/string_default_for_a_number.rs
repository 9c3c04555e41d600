// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(#[arg(default = "5")] lines: u32) -> String {
    lines.to_string()
}

fn main() {
    read(5);
}
