// errors: 1
use toolkit::prelude::*;

#[toolkit::args]
struct Arguments {
    path: String,
    #[arg(rename = "path")]
    file: String,
}

fn main() {}
