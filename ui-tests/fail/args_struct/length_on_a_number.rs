// errors: 1
use toolkit::prelude::*;

#[toolkit::args]
struct Arguments {
    #[arg(length(1..))]
    lines: u32,
}

fn main() {}
