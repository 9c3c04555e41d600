// errors: 1
use toolkit::prelude::*;

#[toolkit::args]
struct Arguments {
    #[arg(default = "5")]
    lines: u32,
}

fn main() {}
