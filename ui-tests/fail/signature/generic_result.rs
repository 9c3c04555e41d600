// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read<T: Default>(path: String) -> T {
    drop(path);
    T::default()
}

fn main() {}
