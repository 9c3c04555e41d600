//! Has a tool of its own.

use toolkit::prelude::*;

/// Doubles a number.
#[tool(group = "math", read_only)]
async fn double(
    /// The number.
    n: i64,
) -> String {
    (n * 2).to_string()
}

fn main() -> std::process::ExitCode {
    toolkit_cli::main()
}
