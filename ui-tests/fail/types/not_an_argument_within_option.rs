// errors: 1
use toolkit::prelude::*;

struct Session;

/// Reads a file.
#[tool]
fn read(path: String, session: Option<Session>) -> String {
    drop(session);
    path
}

fn main() {
    read(String::new(), None);
}
