// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn reads_a_file_and_returns_its_lines_with_their_numbers_before_them_each(path: String) -> String {
    path
}

fn main() {}
