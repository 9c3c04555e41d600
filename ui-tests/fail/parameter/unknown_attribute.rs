// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(#[agr(default)] path: String) -> String {
    path
}

fn main() {
    read(String::new());
}
