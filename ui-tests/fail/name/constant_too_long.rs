// errors: 1
use toolkit::prelude::*;

const NAME: &str = "reads_a_file_and_returns_its_lines_with_their_numbers_before_them_each";

/// Reads a file.
#[tool(name = NAME)]
fn read(path: String) -> String {
    path
}

fn main() {}
