// errors: 1
use toolkit::prelude::*;

struct Session;

/// Reads a file.
#[tool]
fn read(session: Session) -> String {
    drop(session);
    String::new()
}

fn main() {
    read(Session);
}
