// errors: 2
use toolkit::prelude::*;

#[toolkit::args]
struct Arguments {
    #[serde(default)]
    #[arg(default = 3)]
    count: u8,
    #[arg(rename = "path")]
    #[serde(rename = "file")]
    name: String,
}

/// Reads a file.
#[tool]
fn read(#[args] arguments: Arguments) -> String {
    drop(arguments);
    String::new()
}

fn main() {}
