// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(#[arg(range(1..=10))] path: String) -> String {
    path
}

fn main() {
    read(String::new());
}
