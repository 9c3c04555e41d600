// errors: 1
use toolkit::prelude::*;

struct Handle(u32);

#[toolkit::args]
struct Arguments {
    path: String,
    #[serde(skip)]
    handle: Handle,
}

/// Reads a file.
#[tool]
fn read(#[args] arguments: Arguments) -> String {
    format!("{} {}", arguments.path, arguments.handle.0)
}

fn main() {}
