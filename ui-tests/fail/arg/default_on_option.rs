// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(#[arg(default = 5)] lines: Option<u32>) -> String {
    format!("{lines:?}")
}

fn main() {
    read(None);
}
