// errors: 4
use toolkit::prelude::*;

struct Session;

/// Reads a file.
#[tool(read_onyl)]
async fn read(session: Session, #[arg(range(1..))] path: String) -> Session {
    drop(path);
    session
}

fn main() {
    drop(read(Session, String::new()));
}
