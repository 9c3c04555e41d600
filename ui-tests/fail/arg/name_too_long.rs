// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read(#[arg(alias = "the_path_of_the_file_that_is_to_be_read_absolute_or_relative_to_somewhere")] path: String) -> String {
    path
}

fn main() {}
