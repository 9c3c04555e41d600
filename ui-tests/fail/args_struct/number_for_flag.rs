// errors: 1
use toolkit::prelude::*;

#[toolkit::args(allow_unknown_fields = 1)]
struct Arguments {
    path: String,
}

fn main() {}
