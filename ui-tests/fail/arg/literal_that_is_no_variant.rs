// errors: 2
use toolkit::prelude::*;

#[toolkit::args]
#[serde(rename_all = "snake_case")]
enum Mode {
    VeryFast,
    Slow,
}

/// Runs.
#[tool]
fn run(#[arg(default = "VeryFast")] mode: Mode, #[arg(example = "fast")] other: Mode) -> String {
    drop((mode, other));
    String::new()
}

fn main() {}
