// errors: 3
use toolkit::prelude::*;
/// Reads a file.
#[tool]
async fn read1(value: Json<u8>) {
    let _ = value;
}

/// Reads a file.
#[tool]
async fn read2(value: Option<Json<u8>>) {
    let _ = value;
}

/// Reads a file.
#[tool]
async fn read3(value: &Json<u8>) {
    let _ = value;
}

fn main() {}
