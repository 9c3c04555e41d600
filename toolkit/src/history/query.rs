//! Which calls are wanted.

use super::entry::HistoryEntry;
use super::record::Record;
use std::time::SystemTime;

/// Which calls are wanted: all, unless something is said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct HistoryQuery {
    /// Only those of a session.
    pub session: Option<String>,
    /// Only those of a tool, by its own name.
    pub tool: Option<String>,
    /// Only those that began at this time or later.
    pub since: Option<SystemTime>,
    /// Only the last ones.
    pub limit: Option<usize>,
}

impl HistoryQuery {
    /// All calls.
    pub fn new() -> Self {
        Self::default()
    }

    /// Only those of a session.
    #[must_use]
    pub fn session(mut self, session: impl Into<String>) -> Self {
        self.session = Some(session.into());
        self
    }

    /// Only those of a tool, by its own name.
    #[must_use]
    pub fn tool(mut self, tool: impl Into<String>) -> Self {
        self.tool = Some(tool.into());
        self
    }

    /// Only those that began at this time or later.
    #[must_use]
    pub fn since(mut self, time: SystemTime) -> Self {
        self.since = Some(time);
        self
    }

    /// Only the last ones.
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

    /// Whether a call is among those wanted, their number apart.
    pub fn matches(&self, entry: &HistoryEntry) -> bool {
        self.is_met(entry.caller.session.as_deref(), &entry.tool, entry.time)
    }

    /// How many of a number of calls come before the last ones.
    pub(super) fn skipped(&self, found: usize) -> usize {
        self.limit.map_or(0, |limit| found.saturating_sub(limit))
    }
}
