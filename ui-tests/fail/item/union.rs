// errors: 1
use toolkit::prelude::*;

/// A number.
#[tool]
union Number {
    whole: u32,
}

fn main() {}
