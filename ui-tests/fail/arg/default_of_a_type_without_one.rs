// errors: 1
use toolkit::prelude::*;

#[toolkit::args]
enum Mode {
    Fast,
    Slow,
}

/// Reads a file.
#[tool]
fn read(#[arg(default)] mode: Mode) -> String {
    drop(mode);
    String::new()
}

fn main() {}
