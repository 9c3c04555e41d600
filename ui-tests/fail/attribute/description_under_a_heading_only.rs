// errors: 1
use toolkit::prelude::*;

/// # Errors
///
/// When the file is not there.
#[tool]
fn read(path: String) -> String {
    path
}

fn main() {}
