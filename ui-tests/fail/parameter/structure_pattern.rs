// errors: 1
use toolkit::prelude::*;

#[toolkit::args]
struct Pair {
    a: u32,
}

/// Adds two numbers.
#[tool]
fn add(Pair { a }: Pair) -> String {
    a.to_string()
}

fn main() {}
