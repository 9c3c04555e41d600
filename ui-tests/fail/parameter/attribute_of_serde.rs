// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(#[serde(default)] path: String) -> String {
    path
}

fn main() {}
