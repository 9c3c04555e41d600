//! Permission to write does not include reading.

use std::path::Path;
use toolkit::files::Workspace;

/// Returns true if the content of a file may be disclosed: `read` would show it without approval. Blocks briefly.
pub(super) fn may_tell(workspace: &Workspace, path: &Path) -> bool {
    workspace.try_open(path).is_ok()
}
