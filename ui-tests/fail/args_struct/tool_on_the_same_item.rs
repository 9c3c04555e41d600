// errors: 1
use toolkit::prelude::*;

#[toolkit::args]
#[tool]
struct Arguments {
    path: String,
}

fn main() {}
