// errors: 1
use toolkit::prelude::*;

/// Lists the even numbers.
#[tool(read_only)]
async fn evens(limit: u32) -> impl Iterator<Item = u32> {
    (0..limit).filter(|number| number % 2 == 0)
}

fn main() {}
