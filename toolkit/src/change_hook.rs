//! A hook of a host that sees what a file has before a tool changes it.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use toolkit_core::caller::Caller;
use toolkit_core::error::ToolError;

/// A hook of a host, as [`Builder::change_hook`](crate::Builder::change_hook) adds it.
pub(crate) type ChangeHook = dyn Fn(&FileChange<'_>) -> Result<(), ToolError> + Send + Sync;

/// A file that a tool is about to change through its [`Target`](crate::files::Target).
#[non_exhaustive]
pub struct FileChange<'a> {
    /// On whose behalf.
    pub caller: &'a Caller,
    /// The id of the call.
    pub call_id: &'a str,
    /// The tool.
    pub tool: &'a str,
    /// The path of the file, without any link.
    pub path: &'a Path,
    /// The current content; `None` if there is no file.
    pub before: Option<FileBefore<'a>>,
    /// The content that the file is about to get, in consecutive parts; `None` if it is about to be removed or moved away.
    pub after: Option<&'a [&'a [u8]]>,
}

/// The content of a file before a change.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct FileBefore<'a> {
    /// The content.
    pub bytes: &'a [u8],
    /// True if the owner may execute the file; `None` if the system has no such bit.
    pub executable: Option<bool>,
}

impl fmt::Debug for FileBefore<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileBefore")
            .field("bytes", &self.bytes.len())
            .field("executable", &self.executable)
            .finish()
    }
}

impl fmt::Debug for FileChange<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileChange")
            .field("path", &self.path)
            .field("call_id", &self.call_id)
            .finish_non_exhaustive()
    }
}

/// The hooks, for a host that has any.
#[derive(Clone, Default)]
pub(crate) struct ChangeHooks(pub(crate) Vec<Arc<ChangeHook>>);
