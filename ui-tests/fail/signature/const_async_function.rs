// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
const async fn read(path: String) -> String {
    path
}

fn main() {
    drop(read(String::new()));
}
