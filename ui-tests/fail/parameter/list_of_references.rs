// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(paths: &[&str]) -> String {
    paths.join("")
}

fn main() {}
