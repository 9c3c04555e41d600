// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool(prepare = "narrowed")]
fn read(path: String) -> String {
    path
}

fn main() {}
