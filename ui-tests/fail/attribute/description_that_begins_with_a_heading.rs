// errors: 1
use toolkit::prelude::*;

/// # Read
///
/// Reads a file.
#[tool]
fn read(path: String) -> String {
    path
}

fn main() {}
