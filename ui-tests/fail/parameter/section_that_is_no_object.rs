// errors: 1
use toolkit::Config;
use toolkit::prelude::*;

/// Counts.
#[tool]
fn count(limit: Config<u32>) -> u32 {
    *limit.0
}

fn main() {}
