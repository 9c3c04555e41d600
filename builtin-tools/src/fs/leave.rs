//! Leave to write is none to read.

use std::path::Path;
use toolkit::Workspace;

/// Returns true if what a file has may be told: `read` would show it without a question. Blocks, for a moment.
pub(super) fn may_tell(workspace: &Workspace, path: &Path) -> bool {
    workspace.try_open(path).is_ok()
}
