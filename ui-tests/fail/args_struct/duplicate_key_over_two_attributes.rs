// errors: 1
use toolkit::prelude::*;

#[toolkit::args]
struct Arguments {
    #[arg(default = 1)]
    #[arg(default = 2)]
    lines: u32,
}

fn main() {}
