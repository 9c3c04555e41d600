// errors: 1
use toolkit::prelude::*;

#[toolkit::args(crate = toolkit)]
struct Arguments {
    path: String,
}

fn main() {}
