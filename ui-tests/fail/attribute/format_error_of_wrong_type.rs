// errors: 1
use toolkit::prelude::*;

fn worded(problem: u32) -> String {
    problem.to_string()
}

/// Reads a file.
#[tool(format_error = worded)]
fn read(path: String) -> String {
    path
}

fn main() {}
