// errors: 10
use toolkit::prelude::*;

use std::path::Path;

trait Reads {}

/// Reads a file.
#[tool]
async fn read1(path: str) -> String {
    path.to_owned()
}

/// Reads a file.
#[tool]
fn read2(lines: [String]) -> usize {
    lines.len()
}

/// Reads a file.
#[tool]
fn read3(path: Path) -> bool {
    path.exists()
}

/// Reads a file.
#[tool]
fn read4(reader: dyn Reads) {
    let _ = reader;
}

/// Reads a file.
#[tool]
fn read5(path: Option<str>) -> bool {
    path.is_some()
}

/// Reads a file.
#[tool]
fn read6(lines: Vec<[u32]>) -> usize {
    lines.len()
}

/// Reads a file.
#[tool]
fn read7() -> str {
    *"text"
}

/// Reads a file.
#[tool]
fn read8() -> Result<[u32], ToolError> {
    Ok([5])
}

/// Reads a file.
#[tool]
fn read9() -> dyn Reads {
    unimplemented!()
}

/// Reads a file.
#[tool]
fn read10(reader: Option<dyn Reads>) {
    let _ = reader;
}

fn main() {}
