// errors: 1
use toolkit::prelude::*;

/// A limit.
#[tool]
type Limit = u32;

fn main() {}
