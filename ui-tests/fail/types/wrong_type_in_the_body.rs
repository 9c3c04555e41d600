// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
async fn read(path: String) -> String {
    path.len()
}

fn main() {}
