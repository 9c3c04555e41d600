// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(path: &str) -> &str {
    path
}

fn main() {
    read("");
}
