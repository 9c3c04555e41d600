// errors: 2
use toolkit::prelude::*;

struct Session;
struct Account;

/// Reads a file.
#[tool]
fn read(session: Session, account: Account) -> String {
    drop((session, account));
    String::new()
}

fn main() {}
