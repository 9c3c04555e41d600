// errors: 1
use toolkit::prelude::*;
/// Reads a file.
#[tool(params(value = "A number."), required(value))]
fn read1(value: u32) {
    let _ = value;
}

fn main() {}
