// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(paths: &Vec<String>) -> String {
    paths.join("")
}

fn main() {}
