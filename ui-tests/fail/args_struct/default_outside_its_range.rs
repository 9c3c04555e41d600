// errors: 1
use toolkit::prelude::*;

#[toolkit::args]
struct Arguments {
    #[arg(default = 0, range(1..))]
    lines: u32,
}

fn main() {}
