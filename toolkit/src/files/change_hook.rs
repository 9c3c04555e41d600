//! A hook of a host that sees what a file has before a tool changes it.

use super::target::{FileContent, Target};
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use toolkit_core::caller::Caller;
use toolkit_core::error::ToolError;

/// The largest file whose content a hook gets.
const MAX_BYTES: u64 = 256 << 20;

/// A hook of a host, as [`Builder::change_hook`](crate::Builder::change_hook) adds it.
pub(crate) type ChangeHook = dyn Fn(&FileChange<'_>) -> Result<(), ToolError> + Send + Sync;

/// A file that a tool is about to change through its [`Target`].
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
    pub before: Option<&'a FileContent>,
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

impl Target {
    /// Tells the host's hooks that the file is about to change. One that fails keeps it from changing. Blocks.
    pub(super) fn tell_change(&self) -> Result<(), ToolError> {
        let ctx = &self.workspace.ctx;
        let hooks = &ctx.scope().toolkit.settings.hooks.changes.0;
        if hooks.is_empty() {
            return Ok(());
        }
        let before = self.read(MAX_BYTES)?;
        let change = FileChange {
            caller: ctx.caller(),
            call_id: ctx.call_id(),
            tool: ctx.tool_name(),
            path: &self.real,
            before: before.as_ref(),
        };
        hooks.iter().try_for_each(|hook| hook(&change))
    }
}
