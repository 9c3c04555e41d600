// errors: 1
use toolkit::prelude::*;

#[toolkit::args]
struct Arguments {
    #[arg(defualt = 5)]
    lines: u32,
}

/// Reads a file.
#[tool]
fn read(#[args] arguments: Arguments) -> String {
    arguments.lines.to_string()
}

fn main() {
    read(Arguments { lines: 5 });
}
