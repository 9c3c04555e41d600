// errors: 1
use toolkit::prelude::*;

struct File;

/// Reads a file.
#[tool]
fn read(path: String) -> File {
    drop(path);
    File
}

fn main() {
    read(String::new());
}
