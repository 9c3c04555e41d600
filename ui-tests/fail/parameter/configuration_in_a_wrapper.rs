// errors: 4
use toolkit::prelude::*;
use std::sync::Arc;
use toolkit::Config;

#[toolkit::args]
struct Settings {
    #[arg(default)]
    limit: u32,
}

/// Reads a file.
#[tool]
async fn read1(value: Option<Config<Settings>>) {
    let _ = value;
}

/// Reads a file.
#[tool]
async fn read2(value: Config<Arc<Settings>>) {
    let _ = value;
}

/// Reads a file.
#[tool]
async fn read3(value: Config<&Settings>) {
    let _ = value;
}

/// Reads a file.
#[tool]
async fn read4(value: Arc<Config<Settings>>) {
    let _ = value;
}

fn main() {}
