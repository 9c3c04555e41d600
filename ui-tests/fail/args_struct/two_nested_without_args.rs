// errors: 2
use toolkit::prelude::*;

struct Session;

struct Account;

#[toolkit::args]
struct Arguments {
    session: Session,
    account: Account,
}

/// Reads a file.
#[tool]
fn read(#[args] arguments: Arguments) -> String {
    drop((arguments.session, arguments.account));
    String::new()
}

fn main() {}
