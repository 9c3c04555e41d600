// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(path: Strng) -> String {
    String::new()
}

fn main() {}
