// errors: 3
use toolkit::prelude::*;

const HALF: f64 = 0.5;
const NAME: &str = "lines";

/// Reads a file.
#[tool]
fn read1(#[arg(range(1..=HALF))] lines: u32) -> String {
    lines.to_string()
}

/// Reads a file.
#[tool]
fn read2(#[arg(range(..NAME))] part: f64) -> String {
    part.to_string()
}

/// Reads a file.
#[tool]
fn read3(#[arg(length(..HALF))] path: String) -> String {
    path
}

fn main() {}
