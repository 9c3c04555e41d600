// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool(read_only)]
#[tool(name = "read_file")]
fn read(path: String) -> String {
    path
}

fn main() {
    read(String::new());
}
