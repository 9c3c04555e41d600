// errors: 1
use toolkit::prelude::*;
#[tool(description = include_str!("missing.md"))]
fn read(path: &str) {
    let _ = path;
}

fn main() {}
