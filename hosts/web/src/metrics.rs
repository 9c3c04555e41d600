//! Metrics, in the text format of Prometheus.

use crate::counts::{CallCounts, head};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The counts of one service. Only names of tools that are there become labels, and no name of a client.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    pub(crate) calls: CallCounts,
    refused: Mutex<BTreeMap<u16, u64>>,
    running: AtomicU64,
}

/// A call that runs.
#[derive(Debug)]
pub(crate) struct Measured {
    metrics: Arc<Metrics>,
}

impl Drop for Measured {
    fn drop(&mut self) {
        self.metrics.running.fetch_sub(1, Ordering::AcqRel);
    }
}

/// The counts of a service besides calls.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Gauges {
    pub(crate) clients: usize,
    pub(crate) results: usize,
    pub(crate) bytes: usize,
}

impl Metrics {
    /// Counts a call that runs until the value is dropped.
    pub(crate) fn begin(self: &Arc<Self>) -> Measured {
        self.running.fetch_add(1, Ordering::AcqRel);
        Measured { metrics: Arc::clone(self) }
    }

    /// Counts a call that began nothing, by the status of its answer.
    pub(crate) fn note_refused(&self, status: u16) {
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner).entry(status).or_default() += 1;
    }

    /// Returns the text, with the tools for which `shows` returns true.
    pub(crate) fn text(&self, gauges: Gauges, shows: impl Fn(&str) -> bool) -> String {
        let mut text = self.calls.text("toolkit_web", shows);
        head(&mut text, "toolkit_web_refused_total", "counter", "Calls that began nothing, by status.");
        for (status, count) in &*self.refused.lock().unwrap_or_else(PoisonError::into_inner) {
            let _ = writeln!(text, "toolkit_web_refused_total{{status=\"{status}\"}} {count}");
        }
        let running = self.running.load(Ordering::Acquire);
        for (name, help, value) in [
            ("toolkit_web_calls_in_flight", "Calls that run.", running),
            ("toolkit_web_clients", "Clients with a session.", gauges.clients as u64),
            ("toolkit_web_stored_results", "Results whose files are kept.", gauges.results as u64),
            ("toolkit_web_stored_bytes", "Bytes of answers and files that are kept.", gauges.bytes as u64),
        ] {
            head(&mut text, name, "gauge", help);
            let _ = writeln!(text, "{name} {value}");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn calls_are_counted_by_tool_outcome_and_time() {
        let metrics = Arc::new(Metrics::default());
        let running = metrics.begin();
        metrics.calls.note("add", "ok", Duration::from_millis(7));
        metrics.calls.note("add", "failed", Duration::from_hours(1));
        metrics.calls.note("a\"b", "ok", Duration::ZERO);
        metrics.note_refused(404);
        let text = metrics.text(Gauges::default(), |name| name != "a\"b");
        for line in [
            "toolkit_web_calls_total{tool=\"add\",outcome=\"failed\"} 1",
            "toolkit_web_call_duration_seconds_bucket{tool=\"add\",le=\"0.005\"} 0",
            "toolkit_web_call_duration_seconds_bucket{tool=\"add\",le=\"0.01\"} 1",
            "toolkit_web_call_duration_seconds_bucket{tool=\"add\",le=\"600\"} 1",
            "toolkit_web_call_duration_seconds_bucket{tool=\"add\",le=\"+Inf\"} 2",
            "toolkit_web_call_duration_seconds_count{tool=\"add\"} 2",
            "toolkit_web_refused_total{status=\"404\"} 1",
            "toolkit_web_calls_in_flight 1",
        ] {
            assert!(text.lines().any(|other| other == line), "{line}\n{text}");
        }
        assert!(!text.contains("a\\\"b"), "{text}");
        drop(running);
        let text = metrics.text(Gauges::default(), |_| true);
        assert!(text.contains("tool=\"a\\\"b\"") && text.contains("in_flight 0"), "{text}");
    }
}
