// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(#[arg(default = ["a", 5])] paths: Vec<String>) -> String {
    paths.join("")
}

fn main() {}
