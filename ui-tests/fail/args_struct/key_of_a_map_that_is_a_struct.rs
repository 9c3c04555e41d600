// errors: 1
use toolkit::prelude::*;

use std::collections::HashMap;

#[toolkit::args]
#[derive(PartialEq, Eq, Hash)]
struct Point {
    x: i32,
}

#[toolkit::args]
struct Arguments {
    names: Option<HashMap<Point, String>>,
}

/// Reads a file.
#[tool]
fn read(#[args] arguments: Arguments) -> String {
    drop(arguments);
    String::new()
}

fn main() {}
