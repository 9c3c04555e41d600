// errors: 1
use toolkit::prelude::*;

struct Session;

#[toolkit::args]
struct Report {
    session: Session,
}

/// Reports.
#[tool]
fn report() -> Report {
    Report { session: Session }
}

fn main() {}
