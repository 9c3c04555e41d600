// errors: 1
use toolkit::prelude::*;

/// A file.
#[tool]
struct File {
    path: String,
}

fn main() {
    drop(File { path: String::new() }.path);
}
