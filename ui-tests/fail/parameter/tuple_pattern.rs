// errors: 1
use toolkit::prelude::*;

/// Adds two numbers.
#[tool]
fn add((a, b): (u32, u32)) -> String {
    (a + b).to_string()
}

fn main() {
    add((1, 2));
}
