// errors: 1
use toolkit::prelude::*;

#[toolkit::args]
struct Arguments {
    #[arg(range(1..))]
    path: String,
}

fn main() {}
