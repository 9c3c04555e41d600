// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool(colour = "red")]
fn read(path: String) -> String {
    path
}

fn main() {
    read(String::new());
}
