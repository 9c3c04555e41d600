//! `cargo xtask real-model`: the agent with a small language model in place of a scripted one.

use crate::provision;
use crate::workspace::{Result, Workspace};

/// Installs the model and its server, builds the command, and has it work on three tasks. It takes minutes, and is not part of CI: a
/// small model need not succeed.
pub(crate) fn run(workspace: &Workspace) -> Result {
    provision::ensure(workspace, provision::FOR_REAL_MODEL)?;
    workspace.run(&["cargo", "build", "--bin", "toolkit"])?;
    let target = std::env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "target".to_owned());
    let program = format!("{target}/debug/toolkit");
    workspace.run(&["target/tools/real-model/bin/python", "xtask/real-model/run.py", &program])
}
