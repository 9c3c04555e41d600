// errors: 1
use toolkit::prelude::*;

const MOST: &str = "10";

/// Reads a file.
#[tool]
fn read(#[arg(range(1..=MOST))] lines: u32) -> String {
    lines.to_string()
}

fn main() {}
