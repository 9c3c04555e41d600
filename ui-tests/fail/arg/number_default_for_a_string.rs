// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(#[arg(default = 5)] path: &str) -> String {
    path.to_owned()
}

fn main() {}
