// errors: 4
use toolkit::prelude::*;
/// Reads a file.
#[tool(group("fs", "text"), alias("cat"), timeout(30))]
fn read() {}

/// Lists files.
#[tool(title("Lists files"))]
fn list() {}

fn main() {}
