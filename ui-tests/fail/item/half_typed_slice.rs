// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(lines: &[]) -> usize {
    5
}

fn main() {}
