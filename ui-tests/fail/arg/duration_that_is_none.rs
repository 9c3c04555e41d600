// errors: 4
use toolkit::prelude::*;
use std::time::Duration;
/// Reads a file.
#[tool]
fn read1(#[arg(default = 30)] value: Duration) {
    let _ = value;
}

/// Reads a file.
#[tool]
fn read2(#[arg(example = 30)] value: Option<Duration>) {
    let _ = value;
}

/// Reads a file.
#[tool]
fn read3(#[arg(default = "30 seconds")] value: Duration) {
    let _ = value;
}

/// Reads a file.
#[tool]
fn read4(#[arg(example = "")] value: std::time::Duration) {
    let _ = value;
}

fn main() {}
