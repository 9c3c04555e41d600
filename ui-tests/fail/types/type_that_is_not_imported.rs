// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(paths: HashMap<String, String>) -> String {
    String::new()
}

fn main() {}
