// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(started: std::time::Instant) -> String {
    format!("{started:?}")
}

fn main() {}
