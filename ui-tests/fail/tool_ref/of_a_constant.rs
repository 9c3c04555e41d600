// errors: 1
use toolkit::prelude::*;

const NAME: &str = "read";

/// Reads a file.
#[tool]
fn read(path: String) -> String {
    path
}

fn main() {
    toolkit::tool_ref!(NAME);
}
