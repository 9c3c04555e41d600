//! The properties of a tool that a policy uses.

use crate::tool::Tool;
use std::borrow::Cow;
use toolkit_core::source::Source;

/// A tool as seen by a policy.
pub(crate) trait Subject {
    /// Returns the name of the tool.
    fn name(&self) -> &str;
    /// Returns the aliases.
    fn aliases(&self) -> impl Iterator<Item = &str>;
    /// Returns the groups that its author named.
    fn groups(&self) -> impl Iterator<Item = &str>;
    /// Returns the id of its plugin, or `mcp:<server>`, `client:<id>`; `None` for core tools.
    fn plugin_id(&self) -> Option<Cow<'_, str>>;
    /// Returns the name of its server or client, which is enough to deny it.
    fn remote_name(&self) -> Option<&str>;
    /// Returns the group of all tools of servers or clients, if it is one of them: `mcp`, `client`.
    fn remote_group(&self) -> Option<&'static str>;
    /// Returns true if a core crate defines it.
    fn is_core(&self) -> bool;
    /// Returns the only channel in whose sessions it exists.
    fn channel(&self) -> Option<&str>;
    /// Returns true if it exists only if an allow list names it.
    fn is_optional(&self) -> bool;
    /// Returns true if it exists unless the configuration disables it.
    fn is_enabled(&self) -> bool;
}

impl Subject for Tool {
    fn name(&self) -> &str {
        Self::name(self)
    }

    fn aliases(&self) -> impl Iterator<Item = &str> {
        Self::aliases(self)
    }

    fn groups(&self) -> impl Iterator<Item = &str> {
        Self::groups(self)
    }

    fn plugin_id(&self) -> Option<Cow<'_, str>> {
        let remote = self.source().remote_id().map(Cow::Owned);
        remote.or_else(|| Self::plugin_id(self).map(Cow::Borrowed))
    }

    fn remote_name(&self) -> Option<&str> {
        match self.source() {
            Source::Mcp { server: name } | Source::Client { id: name } => Some(name),
            _ => None,
        }
    }

    fn remote_group(&self) -> Option<&'static str> {
        self.source().remote_kind()
    }

    fn is_core(&self) -> bool {
        matches!(self.source(), Source::Core)
    }

    fn channel(&self) -> Option<&str> {
        Self::channel(self)
    }

    fn is_optional(&self) -> bool {
        Self::is_optional(self)
    }

    fn is_enabled(&self) -> bool {
        self.stated().enabled
    }
}
