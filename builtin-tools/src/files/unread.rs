//! Files that a session has not read: it must not replace or remove unknown content.

use std::path::Path;
use toolkit::files::{Extent, FileContent, Workspace};

/// Returns true if the session knows the whole content of a file, or the file is empty.
pub(crate) fn is_read(workspace: &Workspace, path: &Path, content: &FileContent) -> bool {
    content.bytes.is_empty() || workspace.extent(path, &content.version) == Extent::Whole
}
