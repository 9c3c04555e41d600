// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool(name = "reads_a_file_and_returns_its_lines_with_their_numbers_before_them_each")]
fn read(path: String) -> String {
    path
}

fn main() {}
