// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(größe: u32) -> String {
    größe.to_string()
}

fn main() {}
