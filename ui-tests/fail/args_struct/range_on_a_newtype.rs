// errors: 1
use toolkit::prelude::*;

#[toolkit::args]
struct Line(u32);

#[toolkit::args]
struct Arguments {
    #[arg(range(1..))]
    line: Option<Line>,
}

fn main() {}
