// errors: 1
use toolkit::prelude::*;

/// Knocks.
#[tool(read_only)]
fn knock(#[arg(default = "once")] times: u32) -> String {
    "knock ".repeat(times as usize)
}

fn once() -> u32 {
    1
}

fn main() {}
