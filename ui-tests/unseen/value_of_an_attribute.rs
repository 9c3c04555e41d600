// errors: 4
use toolkit::prelude::*;

/// Reads a file.
#[tool = "read_file"]
fn read() {}

#[toolkit::args = "query"]
struct Query {
    text: String,
}

fn main() {}
