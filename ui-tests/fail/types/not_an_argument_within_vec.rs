// errors: 1
use toolkit::prelude::*;

struct Session;

/// Reads a file.
#[tool]
fn read(sessions: Vec<Session>) -> String {
    sessions.len().to_string()
}

fn main() {
    read(Vec::new());
}
