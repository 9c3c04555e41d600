// errors: 1
use toolkit::prelude::*;

#[toolkit::args]
struct Line(u32);

/// Reads a file.
#[tool]
fn read(#[arg(range(1..))] line: Line) -> String {
    line.0.to_string()
}

fn main() {}
