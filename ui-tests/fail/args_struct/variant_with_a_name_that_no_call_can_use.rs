// errors: 2
use toolkit::prelude::*;

#[toolkit::args]
enum Mode {
    #[serde(alias = "quick")]
    Fast,
    #[serde(other)]
    Slow,
}

#[toolkit::args]
struct Arguments {
    mode: Mode,
}

/// Reads a file.
#[tool]
fn read(#[args] arguments: Arguments) -> String {
    drop(arguments);
    String::new()
}

fn main() {}
