// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(#[cfg(unix)] path: String) -> String {
    path
}

fn main() {}
