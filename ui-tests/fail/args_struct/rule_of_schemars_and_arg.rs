// errors: 1
use toolkit::prelude::*;

#[toolkit::args]
struct Arguments {
    #[schemars(range(min = 5))]
    #[arg(range(1..=10))]
    count: u32,
}

/// Counts.
#[tool]
fn count(#[args] arguments: Arguments) -> String {
    arguments.count.to_string()
}

fn main() {}
