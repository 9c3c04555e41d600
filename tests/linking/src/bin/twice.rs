//! Has two names twice.

use toolkit::prelude::*;

/// Is one.
#[tool(name = "same")]
async fn one() {}

/// Is two.
#[tool(name = "same")]
async fn two() {}

/// Is three.
#[tool(name = "other")]
async fn three() {}

/// Is four.
#[tool(name = "other")]
async fn four() {}

fn main() -> std::process::ExitCode {
    toolkit_cli::main()
}
