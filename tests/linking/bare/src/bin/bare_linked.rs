//! Links a plugin, and has a tool of its own.

use toolkit::prelude::*;

toolkit::link!(second);

/// Doubles a number.
#[tool(read_only)]
async fn double(
    /// The number.
    n: i64,
) -> String {
    (n * 2).to_string()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    toolkit_linking_bare::list_and_greet()
}
