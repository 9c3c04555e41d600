// errors: 1
use toolkit::prelude::*;

/// A limit.
#[tool]
static LIMIT: u32 = 5;

fn main() {}
