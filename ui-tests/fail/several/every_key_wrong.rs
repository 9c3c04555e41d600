// errors: 6
use toolkit::prelude::*;

/// Reads a file.
#[tool(
    nam = "read",
    group = 5,
    timeout = "soon",
    truncate(keep = "middle", max_bytes = 0),
    crate = toolkit
)]
fn read(path: String) -> String {
    path
}

fn main() {
    read(String::new());
}
