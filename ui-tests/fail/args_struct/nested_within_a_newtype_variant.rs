// errors: 1
use toolkit::prelude::*;

struct Session;

#[toolkit::args]
enum Target {
    Path(String),
    Session(Session),
}

/// Reads a file.
#[tool]
fn read(target: Target) -> String {
    drop(target);
    String::new()
}

fn main() {}
