// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(path: &String) -> String {
    path.clone()
}

fn main() {
    read(&String::new());
}
