// errors: 5
use toolkit::prelude::*;
/// Reads a file.
#[tool]
fn read1(#[arg(range(0..=300))] value: u8) {
    let _ = value;
}

/// Reads a file.
#[tool]
fn read2(#[arg(range(..257))] value: Option<u8>) {
    let _ = value;
}

/// Reads a file.
#[tool]
fn read3(#[arg(range(-1..))] value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool]
fn read4(#[arg(range(0.5..=1.5))] value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool]
fn read5(#[arg(range(..12345678901234567.0))] value: u64) {
    let _ = value;
}

fn main() {}
