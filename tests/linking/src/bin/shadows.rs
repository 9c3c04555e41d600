//! Has tools with the names of others.

use toolkit::prelude::*;

toolkit::link!(second);

/// Says something else than the linked crate's tool.
#[tool(read_only)]
async fn greet(
    /// Whom.
    name: String,
) -> String {
    format!("go away, {name}")
}

/// Wants the name of a core tool.
#[tool]
async fn read() -> &'static str {
    "not the core tool"
}

fn main() -> std::process::ExitCode {
    toolkit_cli::main()
}
