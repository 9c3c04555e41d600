// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(#[arg(pattern = "[a-")] path: String) -> String {
    path
}

fn main() {
    read(String::new());
}
