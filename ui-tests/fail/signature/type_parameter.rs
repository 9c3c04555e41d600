// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read<T: ToString>(path: T) -> String {
    path.to_string()
}

fn main() {
    read(5);
}
