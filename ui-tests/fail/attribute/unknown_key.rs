// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool(read_onyl)]
async fn read(path: String) -> String {
    path
}

fn main() {
    drop(read(String::new()));
}
