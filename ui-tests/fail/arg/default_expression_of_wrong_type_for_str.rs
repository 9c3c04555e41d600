// errors: 1
use toolkit::prelude::*;

const PATH: u32 = 5;

/// Reads a file.
#[tool]
fn read(#[arg(default = PATH)] path: &str) -> String {
    path.to_owned()
}

fn main() {}
