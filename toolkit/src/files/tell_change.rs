//! Tells the hooks of a host of a change.

use super::target::Target;
use crate::change_hook::{ChangeHook, FileBefore, FileChange};
use std::sync::Arc;
use toolkit_core::error::ToolError;

/// The largest file whose content a hook gets.
const MAX_BYTES: u64 = 256 << 20;

impl Target {
    /// Tells the host's hooks that the file is about to get the content `after`, in consecutive parts, or to be removed. A hook that
    /// fails keeps it from changing. Blocks.
    pub(super) fn tell_change(&self, after: Option<&[&[u8]]>) -> Result<(), ToolError> {
        let ctx = &self.workspace.ctx;
        if !self.has_change_hooks() {
            return Ok(());
        }
        let before = self.read(MAX_BYTES)?;
        let change = FileChange {
            caller: ctx.caller(),
            call_id: ctx.call_id(),
            tool: ctx.tool_name(),
            path: &self.real,
            before: before
                .as_ref()
                .map(|content| FileBefore { bytes: &content.bytes, executable: content.executable }),
            after,
        };
        self.change_hooks().try_for_each(|hook| hook(&change))
    }

    /// Returns the hook of the call, and then those of the toolkit.
    fn change_hooks(&self) -> impl Iterator<Item = &Arc<ChangeHook>> {
        let ctx = &self.workspace.ctx;
        ctx.change_hook.iter().chain(&ctx.scope().toolkit.settings.hooks.changes.0)
    }

    fn has_change_hooks(&self) -> bool {
        self.change_hooks().next().is_some()
    }

    /// Tells the host's hooks that the file is about to be moved to another target. Blocks.
    pub(super) fn tell_move(&self, to: &Self) -> Result<(), ToolError> {
        if !self.has_change_hooks() {
            return Ok(());
        }
        self.tell_change(None)?;
        let content = self.read(MAX_BYTES)?;
        to.tell_change(content.as_ref().map(|content| [&*content.bytes]).as_ref().map(|parts| &parts[..]))
    }
}
