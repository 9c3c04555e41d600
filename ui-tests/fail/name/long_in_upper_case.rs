// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool(name = "readFileAndReturnItsLinesWithNumbersBeforeThem")]
fn read(path: String) -> String {
    path
}

fn main() {}
