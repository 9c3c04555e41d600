//! The keys of permission rules: kinds of permission, and names of tools.

use crate::policy::{alias_of, folded as fold};
use crate::source::Source;
use crate::tool::Tool;

/// How a key means a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Means {
    /// By a name that the tool cannot have chosen to be let in: its own, an alias that a core crate gave it, `mcp:server`.
    Exactly,
    /// By any other name that leads to it: such a key asks and denies, and allows nothing.
    Loosely,
}

impl Means {
    /// Calls `see` with every key that means the tool.
    pub(super) fn each(tool: &Tool, mut see: impl FnMut(Self, &str)) {
        let by_name = match tool.source() {
            // Its name begins with that of its server, which the user chose.
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

/// The key as it is compared: another name of a core tool stands for the tool.
pub(super) fn meant(key: &str) -> String {
    let key = fold(key);
    alias_of(&key).unwrap_or(key)
}
