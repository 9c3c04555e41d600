//! The tools of a toolbox as a provider is told of them.

use super::Toolbox;
use crate::discovery::Showing;
use crate::registry::SourceInstructions;
use std::collections::HashSet;
use toolkit_dialects::dialect::{AsDialect, Definitions, Dialect};

impl Toolbox {
    /// Returns what [sources](crate::registry::ToolSource) say about the use of their tools, of those that have a tool in this toolbox: up to
    /// 2,000 characters of each, and 10,000 in all. A text that no longer fits is left out. It is untrusted: see [`SourceInstructions`].
    pub fn source_instructions(&self) -> Vec<SourceInstructions> {
        let mut left = SourceInstructions::MAX_TOTAL_CHARS;
        let mut said = self.0.toolkit.source_instructions();
        said.retain(|said| {
            let has_tool = || self.tools().any(|tool| *tool.source() == said.source);
            let count = said.text.chars().count();
            let fits = !said.text.is_empty() && count <= left && has_tool();
            left -= if fits { count } else { 0 };
            fits
        });
        said
    }

    /// Returns the definitions of the tools for a provider, by name.
    ///
    /// A tool whose types have an invalid schema is missing here; calling it returns the reason.
    pub fn definitions_for(&self, dialect: impl AsDialect) -> Definitions {
        dialect.into_dialect().definitions(self.definitions())
    }

    /// Returns the definitions for a provider that finds tools itself, if this toolbox [defers some](crate::discovery::Discovery): every
    /// definition, with a mark on those that the provider should not show from the beginning, and the provider's own tool instead of
    /// `tool_search`. The definitions stay the same throughout a session, whatever is found.
    ///
    /// Anthropic's Messages and OpenAI's Responses support this (`defer_loading`); for the others this is
    /// [`definitions_for`](Self::definitions_for).
    pub fn definitions_deferring(&self, dialect: Dialect) -> Definitions {
        if !dialect.has_finder() || !self.defers() {
            return self.definitions_for(dialect);
        }
        let all = self.all_definitions().into_iter().filter(|(_, showing)| *showing != Showing::Search);
        let (mut deferred, shown): (Vec<_>, Vec<_>) =
            all.partition(|(_, showing)| showing.is_deferred_natively());
        // The position of found tools in that list depends on the session.
        deferred.sort_by(|(one, _), (other, _)| one.name.cmp(&other.name));
        let names: HashSet<String> = deferred.iter().map(|(definition, _)| definition.name.clone()).collect();
        let all = shown.into_iter().chain(deferred).map(|(definition, _)| definition);
        dialect.definitions(all).deferring(&names)
    }
}
