// errors: 1
use toolkit::prelude::*;

#[toolkit::args]
struct Arguments {
    path: String,
}

/// Reads a file.
#[tool]
fn read(#[args(flatten)] arguments: Arguments) -> String {
    arguments.path
}

fn main() {}
