// errors: 1
use toolkit::prelude::*;

#[toolkit::args]
#[serde(default)]
struct Options {
    /// The size.
    size: u32,
}

/// Draws.
#[tool(read_only)]
fn draw(#[args] options: Options) -> u32 {
    options.size
}

fn main() {}
