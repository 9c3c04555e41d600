// errors: 1
use toolkit::prelude::*;
#[doc = concat!("# Errors\n", "None.")]
#[tool]
fn read(path: &str) {
    let _ = path;
}

fn main() {}
