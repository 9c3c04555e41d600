// errors: 1
use toolkit::prelude::*;

struct Token(String);

#[toolkit::args]
struct Session {
    token: Token,
}

#[toolkit::args]
struct Arguments {
    session: Session,
}

/// Reads a file.
#[tool]
fn read(#[args] arguments: Arguments) -> String {
    arguments.session.token.0
}

fn main() {}
