// errors: 1
use toolkit::prelude::*;
/// Reads a file.
#[tool(read-only)]
fn read() {}

fn main() {}
