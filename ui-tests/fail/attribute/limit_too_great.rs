// errors: 1
use toolkit::prelude::*;

/// Reads a file.
#[tool(concurrency = 4_294_967_296)]
fn read(lines: u32) -> String {
    lines.to_string()
}

fn main() {}
