// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(&self, path: String) -> String {
    path
}

fn main() {
    read(String::new());
}
