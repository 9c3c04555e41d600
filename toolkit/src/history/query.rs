//! Selects calls of a history.

use super::entry::HistoryEntry;
use super::record::Record;
use std::time::SystemTime;

/// A filter for calls; by default it selects all of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HistoryQuery {
    /// Selects only calls of this session.
    pub session: Option<String>,
    /// Selects only calls of this tool, by its own name.
    pub tool: Option<String>,
    /// Selects only calls that began at this time or later.
    pub since: Option<SystemTime>,
    /// Selects only the last calls, at most this many.
    pub limit: Option<usize>,
}

impl HistoryQuery {
    /// Creates a query for all calls.
    pub fn new() -> Self {
        Self::default()
    }

    /// Selects only calls of this session.
    #[must_use]
    pub fn session(mut self, session: impl Into<String>) -> Self {
        self.session = Some(session.into());
        self
    }

    /// Selects only calls of this tool, by its own name.
    #[must_use]
    pub fn tool(mut self, tool: impl Into<String>) -> Self {
        self.tool = Some(tool.into());
        self
    }

    /// Selects only calls that began at this time or later.
    #[must_use]
    pub fn since(mut self, time: SystemTime) -> Self {
        self.since = Some(time);
        self
    }

    /// Selects only the last calls, at most this many.
    #[must_use]
    pub fn limit(mut self, count: usize) -> Self {
        self.limit = Some(count);
        self
    }

    fn is_met(&self, session: Option<&str>, tool: &str, time: SystemTime) -> bool {
        self.session.as_deref().is_none_or(|wanted| session == Some(wanted))
            && self.tool.as_deref().is_none_or(|wanted| tool == wanted)
            && self.since.is_none_or(|since| time >= since)
    }

    pub(super) fn wants(&self, record: &Record) -> bool {
        self.is_met(record.caller().session_id.as_deref(), record.tool_name(), record.time())
    }

    /// Returns true if the call passes the filter, regardless of `limit`.
    pub fn matches(&self, entry: &HistoryEntry) -> bool {
        self.is_met(entry.caller.session.as_deref(), &entry.tool, entry.time)
    }

    /// Returns how many of the `found` calls precede the last ones that the limit selects.
    pub(super) fn skipped(&self, found: usize) -> usize {
        self.limit.map_or(0, |limit| found.saturating_sub(limit))
    }
}
