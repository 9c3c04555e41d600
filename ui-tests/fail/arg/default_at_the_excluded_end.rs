// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(#[arg(range(1..10), default = 10)] lines: u32) -> String {
    lines.to_string()
}

fn main() {}
