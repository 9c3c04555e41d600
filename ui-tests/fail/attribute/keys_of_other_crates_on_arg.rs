// errors: 19
use toolkit::prelude::*;
/// Reads a file.
#[tool]
fn read1(#[arg(description = "A number.")] value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool]
fn read2(#[arg(min = 1)] value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool]
fn read3(#[arg(max_length = 3)] value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool]
fn read4(#[arg(regex = "a")] value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool]
fn read5(#[arg(required)] value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool]
fn read6(#[arg(optional)] value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool]
fn read7(#[arg(one_of("a", "b"))] value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool]
fn read8(#[arg(type = "integer")] value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool]
fn read9(#[arg(format = "email")] value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool]
fn read10(#[arg(name = "lines")] value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool]
fn read11(#[arg(sensitive)] value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool]
fn read12(#[arg(skip)] value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool]
fn read13(#[arg(flatten)] value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool]
fn read14(#[arg(deserialize_with = "f")] value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool]
fn read15(#[arg(long)] value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool]
fn read16(#[arg(title = "A")] value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool]
fn read17(#[arg(deprecated)] value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool]
fn read18(#[arg(unique)] value: u32) {
    let _ = value;
}

/// Reads a file.
#[tool]
fn read19(#[arg(multiple_of = 5)] value: u32) {
    let _ = value;
}

fn main() {}
