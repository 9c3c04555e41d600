// errors: 1
use toolkit::prelude::*;

struct Session;

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
