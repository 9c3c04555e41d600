// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
async fn read(_: String) -> String {
    String::new()
}

fn main() {
    drop(read(String::new()));
}
