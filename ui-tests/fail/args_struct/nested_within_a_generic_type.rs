// errors: 1
use toolkit::prelude::*;

struct Session;

#[toolkit::args]
struct Held<T> {
    value: T,
    session: Session,
}

#[toolkit::args]
struct Arguments {
    held: Held<u8>,
}

/// Reads a file.
#[tool]
fn read(#[args] arguments: Arguments) -> String {
    drop(arguments);
    String::new()
}

fn main() {}
