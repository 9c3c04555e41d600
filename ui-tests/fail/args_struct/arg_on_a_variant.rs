// errors: 1
use toolkit::prelude::*;

#[toolkit::args]
enum Mode {
    #[arg(rename = "quick")]
    Fast,
    Slow,
}

/// Runs.
#[tool]
fn run(mode: Mode) -> String {
    drop(mode);
    String::new()
}

fn main() {}
