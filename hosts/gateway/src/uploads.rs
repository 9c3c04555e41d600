//! Files that people upload: in a directory of the workspace, where the file tools of the agent find them.
//!
//! An agent works in the workspace, so that nothing in it is trusted: the directory is opened once without following a link, and all that happens
//! happens below that handle, to regular files. A system without such handles has no uploads.

#[cfg(unix)]
mod unix;
#[cfg(not(unix))]
mod unsupported;

#[cfg(unix)]
pub(crate) use unix::Uploads;
#[cfg(not(unix))]
pub(crate) use unsupported::Uploads;

use std::io;

use serde::Serialize;

use crate::store::Moment;

/// The name of the directory.
const DIRECTORY: &str = "uploads";
/// The most bytes of a file.
pub(crate) const MAX_FILE_BYTES: usize = 32 << 20;
/// The longest name of a file, in bytes.
const MAX_NAME_BYTES: usize = 100;

/// A file in the directory.
#[cfg_attr(not(unix), allow(dead_code, reason = "no file is there"))]
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Upload {
    /// Its name in the directory.
    pub(crate) name: String,
    /// Its path in the workspace.
    pub(crate) path: String,
    /// Its size.
    pub(crate) bytes: u64,
    /// When it was last changed.
    pub(crate) changed_at: Moment,
}

/// The reason why a file cannot be uploaded.
#[cfg_attr(not(unix), allow(dead_code, reason = "there are no uploads"))]
#[derive(Debug, thiserror::Error)]
pub(crate) enum UploadError {
    /// The name cannot be one.
    #[error(
        "a `name` has 1 to {MAX_NAME_BYTES} bytes, begins with no dot, and has no `/`, `\\` or control characters"
    )]
    Name,
    /// The directory has as much as it may.
    #[error("{0}; remove some with DELETE /v1/uploads/{{name}} first")]
    Full(String),
    /// The system refused.
    #[error("the directory `{DIRECTORY}` of the workspace cannot be used: {0}")]
    Io(#[from] io::Error),
}
