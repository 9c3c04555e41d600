// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(#[arg(default = "a")] paths: Vec<String>) -> String {
    paths.join("")
}

fn main() {}
