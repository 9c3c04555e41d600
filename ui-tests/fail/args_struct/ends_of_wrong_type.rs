// errors: 3
use toolkit::prelude::*;

const HALF: f64 = 0.5;
const NAME: &str = "lines";

#[toolkit::args]
struct Query {
    #[arg(range(1..=HALF))]
    lines: u32,
    #[arg(range(..NAME))]
    part: f64,
    #[arg(length(..HALF))]
    path: String,
}

/// Reads a file.
#[tool]
fn read(#[args] query: Query) -> String {
    format!("{} {} {}", query.lines, query.part, query.path)
}

fn main() {}
