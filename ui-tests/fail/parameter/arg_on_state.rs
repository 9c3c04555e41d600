// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(#[arg(default)] store: State<String>) -> String {
    store.to_string()
}

fn main() {}
