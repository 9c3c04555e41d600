//! `cargo xtask docs`: the documentation, as docs.rs would build it.

use crate::workspace::{self, Result, Workspace};

pub(crate) fn run(workspace: &Workspace) -> Result {
    let mut command = workspace.command(&["cargo", "doc", "--workspace", "--no-deps", "--all-features"]);
    workspace::run(command.env("RUSTDOCFLAGS", "-D warnings"))
}
