// errors: 6
use toolkit::prelude::*;

/// Reads a file.
#[tool]
fn read1(value: State) {
    let _ = value;
}

/// Reads a file.
#[tool]
fn read2(#[arg(default, length(1..))] value: Vec) {
    let _ = value;
}

/// Reads a file.
#[tool]
fn read3(value: &Vec) {
    let _ = value;
}

/// Reads a file.
#[tool]
fn read4(value: &State) {
    let _ = value;
}

/// Reads a file.
#[tool]
fn read5(value: Result<String>) {
    let _ = value;
}

/// Reads a file.
#[tool]
fn read6() -> Result<String> {
    Ok(String::new())
}

fn main() {}
