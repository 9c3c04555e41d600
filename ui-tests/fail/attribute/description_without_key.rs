// errors: 1
use toolkit::prelude::*;
/// Reads a file.
#[tool("Reads a file.")]
fn read1(value: u32) {
    let _ = value;
}

fn main() {}
