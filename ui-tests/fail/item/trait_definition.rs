// errors: 1
use toolkit::prelude::*;

/// Files.
#[tool]
trait File {}

fn main() {}
