// errors: 1
use toolkit::prelude::*;

type Wide = u128;

/// Counts.
#[tool]
fn count(path: String) -> Wide {
    path.len() as Wide
}

fn main() {}
