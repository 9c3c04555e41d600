// errors: 2
use toolkit::prelude::*;
/// Reads a file.
#[tool]
async fn read1(value: Box<dyn Fn()>) {
    let _ = value;
}

/// Reads a file.
#[tool]
async fn read2(value: Vec<Box<dyn Send>>) {
    let _ = value;
}

fn main() {}
