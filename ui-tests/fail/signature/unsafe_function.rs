// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
unsafe fn read(path: String) -> String {
    path
}

fn main() {
    unsafe { read(String::new()) };
}
