//! Where the approvals of a workspace are kept.

use std::path::PathBuf;

/// The place where the approvals of one workspace are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// The real path of the workspace.
    pub(super) workspace: String,
    pub(super) file: PathBuf,
}
