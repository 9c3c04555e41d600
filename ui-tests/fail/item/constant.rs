// errors: 1
use toolkit::prelude::*;

/// A limit.
#[tool]
const LIMIT: u32 = 5;

fn main() {
    drop(LIMIT);
}
