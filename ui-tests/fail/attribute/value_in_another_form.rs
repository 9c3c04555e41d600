// errors: 10
use toolkit::prelude::*;
/// Reads a file.
#[tool]
fn read1(#[arg(default(5))] value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool]
fn read2(#[arg(length = 5)] value: &str) {
    let _ = value;
}

/// Reads a file.
#[tool]
fn read3(#[arg(range = 1..5)] value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool]
fn read4(#[arg(range = "1..5")] value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool]
fn read5(#[arg(range("1..5"))] value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool]
fn read6(#[arg(range(1, 5))] value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool]
fn read7(#[arg(range(min = 1, max = 5))] value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool]
fn read8(#[arg(length(min = 1))] value: &str) {
    let _ = value;
}

/// Reads a file.
#[tool]
fn read9(#[arg(length(equal = 5))] value: &str) {
    let _ = value;
}

/// Reads a file.
#[tool]
fn read10(#[arg(pattern("a"))] value: &str) {
    let _ = value;
}

fn main() {}
