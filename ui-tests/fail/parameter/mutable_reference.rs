// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(path: &mut String) -> String {
    path.clone()
}

fn main() {
    read(&mut String::new());
}
