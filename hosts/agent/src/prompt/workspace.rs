//! Instructions that stand in files: the user's own `AGENTS.md`, and that of a workspace that the user trusts.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use toolkit::config::Configuration;

/// The name of the file.
const FILE: &str = "AGENTS.md";
/// The most bytes of it that count.
const MAX_BYTES: usize = 64 << 10;

/// The instructions for agents in a workspace: the user's own first. Those of the workspace count only if the user trusts its
/// configuration. Blocks.
pub(crate) fn instructions_of(configuration: &Configuration, workspace: &Path) -> Vec<String> {
    let own = configuration.user_dir().and_then(|directory| read(&directory.join(FILE)));
    let own = own.map(|text| format!("Instructions of the user for all workspaces:\n\n{text}"));
    let its = configuration.trusts_workspace(workspace).then(|| read(&workspace.join(FILE))).flatten();
    let its = its.map(|text| format!("Instructions of the workspace ({FILE}):\n\n{text}"));
    own.into_iter().chain(its).collect()
}

/// The text of a file. A link is not followed: who may set one could choose what is read.
fn read(path: &Path) -> Option<String> {
    if !path.symlink_metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(MAX_BYTES as u64 + 1).read_to_end(&mut bytes).ok()?;
    let is_cut = bytes.len() > MAX_BYTES;
    bytes.truncate(MAX_BYTES);
    let mut text = String::from_utf8_lossy(&bytes).trim().to_owned();
    if is_cut {
        text.push_str("\n[The rest is left out: the file is too long.]");
    }
    (!text.is_empty()).then_some(text)
}
