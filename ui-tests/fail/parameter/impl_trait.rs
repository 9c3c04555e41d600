// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(path: impl Into<String>) -> String {
    path.into()
}

fn main() {
    read("");
}
