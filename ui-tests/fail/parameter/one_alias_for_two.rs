// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(#[arg(alias = "file")] path: String, #[arg(alias = "file")] other: String) -> String {
    path + &other
}

fn main() {}
