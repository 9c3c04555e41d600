// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
extern "C" fn read(lines: u32) {
    drop(lines);
}

fn main() {
    read(5);
}
