//! What a policy looks at in a tool.

use crate::source::Source;
use crate::tool::Tool;
use std::borrow::Cow;

/// What a policy looks at in a tool.
pub(crate) trait Subject {
    /// The name that models call it by.
    fn name(&self) -> &str;
    /// Other names that it answers to.
    fn aliases(&self) -> impl Iterator<Item = &str>;
    /// The groups that its author named.
    fn groups(&self) -> impl Iterator<Item = &str>;
    /// The plugin that brings it, or `mcp:<server>`, `client:<id>`; none for core tools.
    fn plugin_id(&self) -> Option<Cow<'_, str>>;
    /// What its server or client is called, which is enough to deny it.
    fn remote_name(&self) -> Option<&str>;
    /// The group of all tools of servers or of clients, if it is one: `mcp`, `client`.
    fn remote_group(&self) -> Option<&'static str>;
    /// Whether a core crate brings it.
    fn is_core(&self) -> bool;
    /// The only channel in whose sessions it is there.
    fn channel(&self) -> Option<&str>;
    /// Whether it is there only where an allow list names it.
    fn is_optional(&self) -> bool;
    /// Whether it is there unless the configuration says otherwise.
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
