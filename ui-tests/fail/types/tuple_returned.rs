// errors: 1
use toolkit::prelude::*;

/// Measures a picture.
#[tool]
fn measure(path: String) -> (u32, u32) {
    drop(path);
    (640, 480)
}

fn main() {}
