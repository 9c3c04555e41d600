// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(#[arg(default = 0)] whole: bool) -> String {
    whole.to_string()
}

fn main() {}
