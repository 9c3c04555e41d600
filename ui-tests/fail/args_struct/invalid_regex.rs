// errors: 1
use toolkit::prelude::*;

#[toolkit::args]
struct Arguments {
    #[arg(pattern = "[a-")]
    path: String,
}

fn main() {}
