// errors: 1
use toolkit::prelude::*;

#[serde(rename_all = "camelCase")]
#[toolkit::args]
struct Arguments {
    first_line: u32,
}

/// Reads a file.
#[tool]
fn read(#[args] arguments: Arguments) -> String {
    arguments.first_line.to_string()
}

fn main() {}
