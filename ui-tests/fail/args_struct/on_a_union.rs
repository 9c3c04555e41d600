// errors: 1
use toolkit::prelude::*;

#[toolkit::args]
union Number {
    whole: u32,
}

fn main() {}
