// errors: 6

use std::path::Path;

#[toolkit::args]
struct Query {
    a: str,
    b: Option<str>,
    c: &'a str,
    d: impl Clone,
    f: Vec<Path>,
}

#[toolkit::args]
enum Choice {
    One([u32]),
    Two,
}

fn main() {}
