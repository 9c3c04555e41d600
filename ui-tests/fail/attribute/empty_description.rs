// errors: 1
use toolkit::prelude::*;

#[tool(description = " ")]
fn read(path: String) -> String {
    path
}

fn main() {}
