//! A history in memory.

use super::History;
use super::entry::HistoryEntry;
use super::query::HistoryQuery;
use super::record::Record;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use toolkit_core::redact::Redactor;

/// A history that keeps the last calls in memory: by default 10,000 calls and about 64 MiB. The oldest are removed
/// first.
///
/// It keeps the calls with their secrets, which are redacted when it is read.
pub struct MemoryHistory {
    kept: Mutex<OutputLocation>,
    redactor: Redactor,
    max_calls: usize,
    max_bytes: usize,
}

#[derive(Default)]
struct OutputLocation {
    ended: VecDeque<Arc<Record>>,
    /// The running calls, by number.
    running: BTreeMap<u64, Arc<Record>>,
    bytes: usize,
}

impl MemoryHistory {
    /// Creates an empty history.
    pub fn new(redactor: Redactor) -> Self {
        Self { kept: Mutex::default(), redactor, max_calls: 10_000, max_bytes: 64 << 20 }
    }

    /// Sets the maximum number of calls.
    #[must_use]
    pub fn max_calls(self, max_calls: usize) -> Self {
        Self { max_calls, ..self }
    }

    /// Sets the approximate maximum memory, in bytes.
    #[must_use]
    pub fn max_bytes(self, max_bytes: usize) -> Self {
        Self { max_bytes, ..self }
    }

    /// Returns the calls in the order in which they ended, then the running ones.
    pub fn calls(&self, query: &HistoryQuery) -> Vec<HistoryEntry> {
        let found: Vec<Arc<Record>> = {
            let kept = self.kept();
            let all = kept.ended.iter().chain(kept.running.values());
            all.filter(|record| query.wants(record)).cloned().collect()
        };
        found[query.skipped(found.len())..].iter().map(|record| record.entry(&self.redactor)).collect()
    }

    /// Returns the number of calls.
    pub fn len(&self) -> usize {
        let kept = self.kept();
        kept.ended.len() + kept.running.len()
    }

    /// Returns true if the history has no calls.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn kept(&self) -> MutexGuard<'_, OutputLocation> {
        // No code that may panic runs under this lock.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl History for MemoryHistory {
    fn record(&self, record: Record) {
        let record = Arc::new(record);
        // Drop the removed call after the lock is released.
        let mut gone = None;
        let mut more_gone = Vec::new();
        {
            let mut kept = self.kept();
            kept.bytes += record.bytes();
            if record.is_start() {
                kept.running.insert(record.number(), record);
            } else {
                if record.was_started() {
                    gone = kept.running.remove(&record.number());
                    kept.bytes -= gone.as_ref().map_or(0, |start| start.bytes());
                }
                kept.ended.push_back(record);
            }
            while kept.ended.len() + kept.running.len() > self.max_calls || kept.bytes > self.max_bytes {
                let ended = kept.ended.pop_front();
                let Some(oldest) = ended.or_else(|| Some(kept.running.pop_first()?.1)) else { break };
                kept.bytes -= oldest.bytes();
                if let Some(before) = gone.replace(oldest) {
                    more_gone.push(before);
                }
            }
        }
    }
}

impl fmt::Debug for MemoryHistory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryHistory").field("calls", &self.len()).finish_non_exhaustive()
    }
}
