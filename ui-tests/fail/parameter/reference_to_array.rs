// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(bytes: &[u8; 4]) -> String {
    bytes.len().to_string()
}

fn main() {}
