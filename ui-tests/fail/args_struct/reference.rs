// errors: 1
use toolkit::prelude::*;

#[toolkit::args]
struct Arguments {
    path: &'static str,
}

fn main() {}
