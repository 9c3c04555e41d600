// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(path: String) -> impl std::fmt::Display {
    path
}

fn main() {
    drop(read(String::new()));
}
