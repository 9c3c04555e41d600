// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read<const N: usize>(path: [u8; N]) -> String {
    path.len().to_string()
}

fn main() {}
