// errors: 2
use toolkit::prelude::*;

#[toolkit::args]
struct Arguments {
    #[arg(secret = 5)]
    path: String,
}

/// Reads a file.
#[tool(read_only = 5)]
fn read(#[args] arguments: Arguments) -> String {
    arguments.path
}

fn main() {}
