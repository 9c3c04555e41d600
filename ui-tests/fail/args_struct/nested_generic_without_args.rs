// errors: 1
use toolkit::prelude::*;

struct Page<T> {
    items: Vec<T>,
}

#[toolkit::args]
struct Arguments {
    path: String,
    session: Page<String>,
}

/// Reads a file.
#[tool]
fn read(#[args] arguments: Arguments) -> String {
    drop(arguments.session);
    arguments.path
}

fn main() {}
