// errors: 1
use toolkit::prelude::*;

enum Mode {
    Fast,
    Safe(u8),
}

#[toolkit::args]
struct Arguments {
    path: String,
    session: Mode,
}

/// Reads a file.
#[tool]
fn read(#[args] arguments: Arguments) -> String {
    drop(arguments.session);
    arguments.path
}

fn main() {}
