// errors: 1
use toolkit::prelude::*;

#[toolkit::args]
struct Arguments {
    #[arg(rename = "the path")]
    path: String,
}

fn main() {}
