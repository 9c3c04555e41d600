// errors: 3
use toolkit::prelude::*;

struct Session;

/// Reads a file.
#[tool]
fn read(path: &String, session: Session) -> Option<String> {
    drop(session);
    Some(path.clone())
}

fn main() {
    read(&String::new(), Session);
}
