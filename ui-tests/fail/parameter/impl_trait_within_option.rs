// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(path: Option<impl Into<String>>) -> String {
    path.map(Into::into).unwrap_or_default()
}

fn main() {}
