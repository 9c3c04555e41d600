// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
#[allow(non_snake_case)]
fn ReadFile(path: String) -> String {
    path
}

fn main() {
    ReadFile(String::new());
}
