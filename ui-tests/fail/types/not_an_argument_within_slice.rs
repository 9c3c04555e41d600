// errors: 1
use toolkit::prelude::*;

struct Session;

/// Reads a file.
#[tool]
async fn read(sessions: &[Session]) -> String {
    sessions.len().to_string()
}

fn main() {
    drop(read(&[]));
}
