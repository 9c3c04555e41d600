// errors: 5
use toolkit::prelude::*;
/// Reads a file.
#[tool]
fn read1(#[arg(default = 9007199254740993)] value: f64) {
    let _ = value;
}

/// Reads a file.
#[tool]
fn read2(#[arg(example = 16777217)] value: f32) {
    let _ = value;
}

/// Reads a file.
#[tool]
fn read3(#[arg(range(..=9007199254740993))] value: f64) {
    let _ = value;
}

/// Reads a file.
#[tool]
fn read4(#[arg(default = 12345678901234567.0)] value: u64) {
    let _ = value;
}

/// Reads a file.
#[tool]
fn read5(#[arg(example = 12345678901234567.0)] value: u64) {
    let _ = value;
}

fn main() {}
