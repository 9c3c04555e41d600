//! Entries of the list of tools that are always shown.

use crate::policy::{Entry, PLUGINS, matches, normalised};
use crate::tool::Tool;
use toolkit_core::source::Source;

/// The tools that are shown regardless of the limits.
pub(super) enum Show {
    /// The tools of core crates.
    Core,
    /// The tools that these entries name.
    Named(Vec<Entry>),
}

impl Show {
    /// Parses the entries. Entries that match nothing are reported when the toolkit is built, and
    /// then building fails.
    pub(super) fn of(entries: Option<&[String]>) -> Self {
        match entries {
            None => Self::Core,
            Some(entries) => {
                Self::Named(entries.iter().filter_map(|entry| Entry::parse(entry).ok()).collect())
            }
        }
    }

    pub(super) fn shows(&self, tool: &Tool) -> bool {
        match self {
            Self::Core => *tool.source() == Source::Core,
            Self::Named(entries) => entries.iter().any(|entry| names(entry, tool)),
        }
    }
}

fn names(entry: &Entry, tool: &Tool) -> bool {
    let remote = tool.source().remote_id();
    let mut names = std::iter::once(tool.name())
        .chain(tool.aliases())
        .chain(tool.plugin_id())
        .chain(remote.as_deref())
        .map(normalised);
    let in_plugins = (*tool.source() != Source::Core).then_some(PLUGINS);
    let mut groups = tool.groups().chain(tool.source().remote_kind()).chain(in_plugins).map(normalised);
    match entry {
        Entry::Name(name) => names.any(|other| other == *name),
        Entry::NamePattern(pattern) => names.any(|other| matches(pattern, &other)),
        Entry::Group(group) => groups.any(|other| other == *group),
        Entry::GroupPattern(pattern) => groups.any(|other| matches(pattern, &other)),
    }
}
