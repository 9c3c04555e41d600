// errors: 1
use toolkit::prelude::*;

use std::collections::BTreeMap;

#[toolkit::args]
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Point {
    x: i32,
}

/// Names points.
#[tool]
fn name(names: Vec<BTreeMap<Point, String>>) -> String {
    names.len().to_string()
}

fn main() {}
