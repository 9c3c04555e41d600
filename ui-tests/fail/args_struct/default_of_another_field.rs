// errors: 2
use toolkit::prelude::*;

#[toolkit::args]
struct Lines {
    start: u32,
    #[arg(default = start + 1)]
    end: u32,
    #[arg(default = 5, range(start..))]
    step: u32,
}

/// Reads lines.
#[tool]
fn read(#[args] lines: Lines) -> String {
    format!("{} {} {}", lines.start, lines.end, lines.step)
}

fn main() {}
