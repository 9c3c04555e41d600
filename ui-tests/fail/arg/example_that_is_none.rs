// errors: 2
use toolkit::prelude::*;

#[toolkit::args]
struct Options {
    /// The size.
    #[arg(example = None)]
    size: Option<u32>,
}

/// Draws.
#[tool(read_only)]
fn draw(
    /// The size.
    #[arg(example = None)]
    size: Option<u32>,
    /// The options.
    options: Options,
) -> u32 {
    size.or(options.size).unwrap_or(1)
}

fn main() {}
