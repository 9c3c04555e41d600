// errors: 1
use toolkit::prelude::*;

/// A file.
#[tool]
enum File {
    Path(String),
}

fn main() {
    drop(File::Path(String::new()));
}
