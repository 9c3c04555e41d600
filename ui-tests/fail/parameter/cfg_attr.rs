// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(#[cfg_attr(unix, arg(default))] path: String) -> String {
    path
}

fn main() {}
