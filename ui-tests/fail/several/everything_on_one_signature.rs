// errors: 4
use toolkit::prelude::*;

/// Reads a file.
#[tool]
const unsafe extern "C" fn read<T>(path: u32) {
    let _ = path;
}

fn main() {}
