// errors: 6
use toolkit::prelude::*;

/// Reads lines.
#[tool("lines")]
fn read1() -> String {
    String::new()
}

#[tool("Reads lines.")]
fn read2() -> String {
    String::new()
}

#[tool(desc = "Reads lines.")]
fn read3() -> String {
    String::new()
}

/// Reads lines.
#[tool]
fn read4(#[arg("The first line.")] start: u32) -> String {
    start.to_string()
}

/// Reads lines.
#[tool]
fn read5(#[arg = "The first line."] start: u32) -> String {
    start.to_string()
}

/// Reads lines.
#[tool]
fn read6(#[arg = 5] start: u32) -> String {
    start.to_string()
}

fn main() {}
