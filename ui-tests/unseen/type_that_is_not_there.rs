// errors: 2
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(store: State<Stroe>) -> String {
    String::new()
}

fn main() {}
