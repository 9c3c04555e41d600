// errors: 3
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(path: String) -> String {
    path
}

struct Notes;

fn host(notes: Notes) {
    let _ = toolkit::tool_ref!(&read);
    let _ = toolkit::tool_ref!(read, read);
    let _ = toolkit::tool_ref!(notes.count);
}

fn main() {}
