// errors: 1
use toolkit::prelude::*;

#[tool]
use std::fs::read;

fn main() {
    drop(read(""));
}
