// errors: 6
use toolkit::prelude::*;
#[tool(description: "Reads a file.")]
fn read(value: u32) {
    let _ = value;
}

/// Lists files.
#[tool(name: "list", group = "fs")]
fn list(#[arg(default: 5)] value: u32) {
    let _ = value;
}

/// Counts files.
#[tool]
fn count(#[arg(range: 1..5)] value: u32, #[arg(length: 5)] text: &str, #[arg(min: 5)] other: u32) {
    let _ = (value, text, other);
}

fn main() {}
