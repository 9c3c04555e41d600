// errors: 1
use toolkit::prelude::*;

#[toolkit::args]
struct Arguments {
    path: String,
    #[arg(alias = "path")]
    file: String,
}

fn main() {}
