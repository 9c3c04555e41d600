// errors: 1
use toolkit::prelude::*;

#[toolkit::args]
struct Arguments {
    #[arg]
    lines: u32,
}

fn main() {}
