// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool(group = "everything_that_reads_or_writes_or_otherwise_has_to_do_with_files_at_all")]
fn read(path: String) -> String {
    path
}

fn main() {}
