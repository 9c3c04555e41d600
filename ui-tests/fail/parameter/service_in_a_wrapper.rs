// errors: 6
use toolkit::prelude::*;
use std::sync::Arc;

struct Db;

/// Reads a file.
#[tool]
async fn read1(value: Option<State<Db>>) {
    let _ = value;
}

/// Reads a file.
#[tool]
async fn read2(value: Arc<State<Db>>) {
    let _ = value;
}

/// Reads a file.
#[tool]
async fn read3(value: State<Arc<Db>>) {
    let _ = value;
}

/// Reads a file.
#[tool]
async fn read4(value: State<&Db>) {
    let _ = value;
}

/// Reads a file.
#[tool]
async fn read5(value: State<Arc<std::sync::Mutex<Db>>>) {
    let _ = value;
}

/// Reads a file.
#[tool]
async fn read6(value: &Option<State<Db>>) {
    let _ = value;
}

fn main() {}
