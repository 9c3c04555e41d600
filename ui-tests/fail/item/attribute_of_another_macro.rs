// errors: 2
use toolkit::prelude::*;

/// Reads a file.
#[tool]
#[tokio::main]
async fn read(path: String) -> String {
    path
}

/// Writes a file.
#[tool]
#[test]
fn write(path: String) -> String {
    path
}

fn main() {}
