// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(path: str) -> String {
    path.to_owned()
}

fn main() {}
