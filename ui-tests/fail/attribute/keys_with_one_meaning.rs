// errors: 2
use toolkit::prelude::*;
/// Reads a file.
#[tool]
fn read1(#[arg(min = 1, max = 5, minLength = 3)] value: u32) {
    let _ = value;
}

fn main() {}
