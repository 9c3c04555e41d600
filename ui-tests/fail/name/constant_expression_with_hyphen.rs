// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool(name = concat!("read", "-", "file"))]
fn read(path: String) -> String {
    path
}

fn main() {}
