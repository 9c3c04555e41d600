// errors: 1
use toolkit::prelude::*;

#[toolkit::args]
struct Arguments {
    path: String,
}

/// Reads a file.
#[tool]
fn read(#[args] arguments: Arguments, lines: u32) -> String {
    format!("{}{lines}", arguments.path)
}

fn main() {
    read(Arguments { path: String::new() }, 5);
}
