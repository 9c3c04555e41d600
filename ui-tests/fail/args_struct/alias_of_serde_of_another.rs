// errors: 1
use toolkit::prelude::*;

#[toolkit::args]
struct Arguments {
    #[serde(alias = "file")]
    path: String,
    #[arg(alias = "file")]
    name: String,
}

/// Reads a file.
#[tool]
fn read(#[args] arguments: Arguments) -> String {
    drop(arguments);
    String::new()
}

fn main() {}
