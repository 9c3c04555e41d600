// errors: 4
use toolkit::prelude::*;

/// Reads a file.
#[tool]
const unsafe extern "C" fn read<T>(path: u32) {
    drop(path);
}

fn main() {}
