// errors: 1
use toolkit::prelude::*;

const DESCRIPTION: u32 = 5;

#[tool(description = DESCRIPTION)]
fn read(path: String) -> String {
    path
}

fn main() {}
