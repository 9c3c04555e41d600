//! `cargo xtask docs`: the documentation, as docs.rs would build it.

use crate::workspace::{self, Result, Workspace};

pub(crate) fn run(workspace: &Workspace) -> Result {
    workspace::in_each(|which| {
        let doc: &[&str] = &["cargo", "doc", "--workspace", "--no-deps", "--all-features"];
        workspace::run(workspace.command(&[doc, which].concat()).env("RUSTDOCFLAGS", "-D warnings"))
    })
}
