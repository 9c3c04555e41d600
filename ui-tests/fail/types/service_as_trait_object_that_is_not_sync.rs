// errors: 1
use toolkit::prelude::*;

trait Store {}

/// Reads a file.
#[tool]
fn read(store: State<dyn Store>) -> String {
    drop(store);
    String::new()
}

fn main() {}
