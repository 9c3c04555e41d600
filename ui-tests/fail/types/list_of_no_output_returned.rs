// errors: 1
use toolkit::prelude::*;

struct Session {
    id: u32,
}

/// Lists sessions.
#[tool]
fn sessions() -> Vec<Session> {
    vec![Session { id: 1 }]
}

fn main() {
    sessions()[0].id;
}
