// errors: 1
use toolkit::prelude::*;

#[tool]
unsafe extern "C" {}

fn main() {}
