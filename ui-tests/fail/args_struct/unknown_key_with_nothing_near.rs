// errors: 1
use toolkit::prelude::*;

#[toolkit::args(strict)]
struct Arguments {
    path: String,
}

fn main() {}
