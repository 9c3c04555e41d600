// errors: 1
use toolkit::prelude::*;

/// Counts.
#[toolkit::tools]
#[tool]
async fn count() -> u8 {
    1
}

fn main() {}
