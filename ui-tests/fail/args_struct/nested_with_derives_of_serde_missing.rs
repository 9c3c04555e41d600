// errors: 1
use toolkit::prelude::*;

#[derive(Debug, Clone, PartialEq)]
struct Session {
    id: u32,
}

#[toolkit::args]
struct Arguments {
    path: String,
    session: Session,
}

/// Reads a file.
#[tool]
fn read(#[args] arguments: Arguments) -> String {
    drop(arguments.session);
    arguments.path
}

fn main() {}
