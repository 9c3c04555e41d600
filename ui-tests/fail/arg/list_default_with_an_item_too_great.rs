// errors: 1
use toolkit::prelude::*;
/// Reads a file.
#[tool]
fn read1(#[arg(default = [1, 300])] value: Vec<u8>) {
    let _ = value;
}

fn main() {}
