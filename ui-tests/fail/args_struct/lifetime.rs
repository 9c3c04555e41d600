// errors: 1
use toolkit::prelude::*;

#[toolkit::args]
struct Arguments<'a> {
    path: &'a str,
}

fn main() {}
