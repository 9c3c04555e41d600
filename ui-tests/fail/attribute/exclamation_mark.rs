// errors: 3
use toolkit::prelude::*;
/// Reads a file.
#[tool(!destructive)]
fn read1(value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool(name = "read", !read_only)]
fn read2(value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool(!timeout)]
fn read3(value: u32) {
    let _ = value;
}

fn main() {}
