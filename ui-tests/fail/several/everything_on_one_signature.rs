// errors: 4
use toolkit::prelude::*;

/// Reads a file.
#[tool]
const unsafe extern "C" fn read<T>(_path: u32) {}

fn main() {}
