//! Files that a session has not read: it must not replace or remove unknown content.

use std::path::Path;
use toolkit::files::{Extent, FileContent, Workspace};
use toolkit::prelude::*;

/// Returns true if the session knows the whole content of a file, or the file is empty.
pub(crate) fn is_read(workspace: &Workspace, path: &Path, content: &FileContent) -> bool {
    content.bytes.is_empty() || workspace.extent(path, &content.version) == Extent::Whole
}

/// Refuses to replace a file of which the session does not know everything.
pub(crate) fn check_read(
    workspace: &Workspace,
    path: &Path,
    shown: &str,
    content: &FileContent,
) -> Result<(), ToolError> {
    if is_read(workspace, path, content) {
        return Ok(());
    }
    let why = match workspace.extent(path, &content.version) {
        Extent::Part => "only a part of it was read in this session",
        _ => "it was not read in this session",
    };
    Err(ToolError::failed(format!(
        "{shown} exists, and {why}; nothing was written. Read all of it first, or use `edit` to change a part of it"
    )))
}
