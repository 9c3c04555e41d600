// errors: 3
use toolkit::prelude::*;

struct Session;

/// Reads a file.
#[tool]
fn read(path: &String, session: Session) -> Option<Session> {
    drop(path);
    Some(session)
}

fn main() {
    read(&String::new(), Session);
}
