// errors: 1
use toolkit::prelude::*;
#[doc = include_str!("missing.md")]
#[tool]
fn read(path: &str) {
    let _ = path;
}

fn main() {}
