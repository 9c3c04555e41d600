// errors: 5
use toolkit::prelude::*;

#[toolkit::args]
enum Mode {
    Fast,
    Slow,
}

#[toolkit::args]
struct Range {
    from: u64,
}

#[toolkit::args]
struct Arguments {
    #[arg(default = "fsat")]
    mode: Mode,
    #[arg(default = ["Fast", "slow"])]
    modes: Vec<Mode>,
    #[arg(default = 1)]
    number: Mode,
    #[arg(default = "1-2")]
    range: Range,
    #[arg(default = 30)]
    wait: std::time::Duration,
}

/// Reads a file.
#[tool]
fn read(#[args] arguments: Arguments) -> String {
    drop(arguments);
    String::new()
}

fn main() {}
