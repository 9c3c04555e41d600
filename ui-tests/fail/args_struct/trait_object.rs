// errors: 1
use std::fmt::Debug;

#[toolkit::args]
struct Query {
    filter: Box<dyn Debug>,
}

fn main() {}
