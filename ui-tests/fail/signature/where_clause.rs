// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(path: String) -> String
where
    String: Clone,
{
    path
}

fn main() {}
