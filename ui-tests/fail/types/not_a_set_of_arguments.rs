// errors: 1
use toolkit::prelude::*;

struct Arguments {
    path: String,
}

/// Reads a file.
#[tool]
fn read(#[args] arguments: Arguments) -> String {
    arguments.path
}

fn main() {}
