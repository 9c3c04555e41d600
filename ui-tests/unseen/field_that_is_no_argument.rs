// errors: 5
use toolkit::prelude::*;

struct Session;

#[toolkit::args]
struct Arguments {
    session: Session,
}

/// Reads a file.
#[tool]
fn read(#[args] arguments: Arguments) -> String {
    drop(arguments.session);
    String::new()
}

fn main() {}
