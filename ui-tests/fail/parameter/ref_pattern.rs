// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(ref path: String) -> String {
    path.clone()
}

fn main() {}
