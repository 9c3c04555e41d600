//! Keys of permission rules: kinds of permission, and names of tools.

use crate::policy::{alias_of, folded as fold};
use crate::tool::Tool;
use toolkit_core::source::Source;

/// The way in which a key names a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Means {
    /// By a name that the tool cannot have chosen to be allowed: its own name, an alias from a core crate, or
    /// `mcp:server`.
    Exactly,
    /// By any other name of the tool: such a key can ask and deny, but allows nothing.
    Loosely,
}

impl Means {
    /// Calls `see` with every key that names the tool.
    pub(super) fn each(tool: &Tool, mut see: impl FnMut(Self, &str)) {
        let by_name = match tool.source() {
            // The name begins with that of the server, which the user chose.
            Source::Mcp { .. } if tool.name().contains("__") => Self::Exactly,
            source if source.is_remote() => Self::Loosely,
            _ => Self::Exactly,
        };
        see(by_name, tool.name());
        let by_alias = if matches!(tool.source(), Source::Core) { Self::Exactly } else { Self::Loosely };
        for alias in tool.aliases() {
            see(by_alias, alias);
        }
        if let Some(id) = tool.source().remote_id() {
            see(Self::Exactly, &fold(&id));
        }
    }
}

/// Returns the key in the form used for comparison: an alias of a core tool is replaced by the tool's name.
pub(super) fn meant(key: &str) -> String {
    let key = fold(key);
    alias_of(&key).unwrap_or(key)
}
