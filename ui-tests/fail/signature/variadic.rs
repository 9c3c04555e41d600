// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
unsafe extern "C" fn read(lines: u32, mut more: ...) {
    drop(lines);
}

fn main() {
    unsafe { read(5) };
}
