// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(path: String, #[arg(alias = "path")] file: String) -> String {
    path + &file
}

fn main() {}
