// errors: 3
use toolkit::prelude::*;
/// Reads a file.
#[tool(title = format!("Read"))]
fn read1(value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool(name = String::new())]
fn read2(value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool(deprecated = "a".into())]
fn read3(value: u32) {
    let _ = value;
}

fn main() {}
