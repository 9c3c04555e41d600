// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(#[arg(default = "ab")] separator: char) -> String {
    separator.to_string()
}

fn main() {}
