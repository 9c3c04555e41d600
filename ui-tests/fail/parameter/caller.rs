// errors: 2
use toolkit::prelude::*;
use toolkit::Caller;

/// Reads a file.
#[tool]
async fn read1(value: &Caller) {
    let _ = value;
}

/// Reads a file.
#[tool]
async fn read2(value: toolkit::Caller) {
    let _ = value;
}

fn main() {}
