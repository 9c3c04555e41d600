// errors: 1
use toolkit::prelude::*;

#[toolkit::args]
struct Arguments {
    #[arg(default = [1, "b"])]
    lines: Vec<u32>,
}

fn main() {}
