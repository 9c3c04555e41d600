// errors: 5
use toolkit::prelude::*;

use toolkit::config::Config;

struct Db;

/// Reads a file.
#[tool]
fn read1(value: Vec<State<Db>>) {
    let _ = value;
}

/// Reads a file.
#[tool]
fn read2(value: (State<Db>, u32)) {
    let _ = value;
}

/// Reads a file.
#[tool]
fn read3(value: State<State<Db>>) {
    let _ = value;
}

/// Reads a file.
#[tool]
fn read4(value: State<Config<Db>>) {
    let _ = value;
}

/// Reads a file.
#[tool]
fn read5(value: &mut State<Db>) {
    let _ = value;
}

fn main() {}
