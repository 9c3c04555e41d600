// errors: 1
use toolkit::prelude::*;

const NAME: u32 = 5;

/// Reads a file.
#[tool(name = NAME)]
fn read(path: String) -> String {
    path
}

fn main() {}
