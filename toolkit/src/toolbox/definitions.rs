//! The tools of a toolbox as a provider is told of them.

use super::Toolbox;
use crate::dialect::{Definitions, Dialect};
use crate::discovery::Showing;
use std::collections::HashSet;

impl Toolbox {
    /// The tools as a provider is told of them, by name.
    ///
    /// A tool whose types state a schema that is not valid is missing here; calling it says why.
    pub fn definitions_for(&self, dialect: Dialect) -> Definitions {
        dialect.definitions(self.definitions())
    }

    /// The same for a provider that finds tools itself, where this toolbox [leaves some to be found](crate::Discovery): every
    /// definition, with a mark at those that the provider is not to show from the beginning, and its own tool in place of `tool_search`.
    /// What is sent stays the same throughout a session, whatever is found.
    ///
    /// Anthropic's Messages and OpenAI's Responses do so (`defer_loading`); for the others it is
    /// [`definitions_for`](Self::definitions_for).
    pub fn definitions_deferring(&self, dialect: Dialect) -> Definitions {
        if !dialect.has_finder() || !self.defers() {
            return self.definitions_for(dialect);
        }
        let all = self.all_definitions().into_iter().filter(|(_, showing)| *showing != Showing::Search);
        let (mut deferred, shown): (Vec<_>, Vec<_>) =
            all.partition(|(_, showing)| showing.is_deferred_natively());
        // What was found stands elsewhere in that list.
        deferred.sort_by(|(one, _), (other, _)| one.name.cmp(&other.name));
        let names: HashSet<String> = deferred.iter().map(|(definition, _)| definition.name.clone()).collect();
        let all = shown.into_iter().chain(deferred).map(|(definition, _)| definition);
        dialect.definitions(all).deferring(&names)
    }
}
