// errors: 1
use toolkit::prelude::*;

#[toolkit::args]
struct Arguments {
    path: String,
}

/// Reads a file.
#[tool]
fn read(#[args] one: Arguments, #[args] two: Arguments) -> String {
    one.path + &two.path
}

fn main() {}
