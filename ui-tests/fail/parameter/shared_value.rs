// errors: 3
use toolkit::prelude::*;
use std::sync::Arc;

struct Db;

/// Reads a file.
#[tool]
async fn read1(value: Arc<Db>) {
    let _ = value;
}

/// Reads a file.
#[tool]
async fn read2(value: Option<Arc<Db>>) {
    let _ = value;
}

/// Reads a file.
#[tool]
async fn read3(value: std::sync::Mutex<Db>) {
    let _ = value;
}

fn main() {}
