//! Metrics, in the text format of Prometheus.

use crate::limits::MAX_MEASURED;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Upper bounds of the histogram of durations, in seconds.
const BOUNDS: [f64; 12] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0, 600.0];
/// The label of calls of tools beyond the limit.
const OTHER: &str = "_other";

/// The counts of one service. Only names of tools that are there become labels, and no name of a client.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    tools: Mutex<BTreeMap<Arc<str>, OfTool>>,
    refused: Mutex<BTreeMap<u16, u64>>,
    running: AtomicU64,
}

#[derive(Debug, Default)]
struct OfTool {
    outcomes: BTreeMap<&'static str, u64>,
    /// Calls up to each bound, each counted once.
    durations: [u64; BOUNDS.len()],
    seconds: f64,
    count: u64,
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

    /// Counts a call of a tool that is there.
    pub(crate) fn note(&self, tool: &str, outcome: &'static str, time: Duration) {
        let mut tools = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        let name = if tools.contains_key(tool) || tools.len() < MAX_MEASURED { tool } else { OTHER };
        let of_tool = tools.entry(name.into()).or_default();
        *of_tool.outcomes.entry(outcome).or_default() += 1;
        let seconds = time.as_secs_f64();
        if let Some(place) = BOUNDS.iter().position(|bound| seconds <= *bound) {
            of_tool.durations[place] += 1;
        }
        of_tool.seconds += seconds;
        of_tool.count += 1;
    }

    /// Counts a call that began nothing, by the status of its answer.
    pub(crate) fn note_refused(&self, status: u16) {
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner).entry(status).or_default() += 1;
    }

    /// Returns the text, with the tools for which `shows` returns true.
    pub(crate) fn text(&self, gauges: Gauges, shows: impl Fn(&str) -> bool) -> String {
        let tools = self.tools.lock().unwrap_or_else(PoisonError::into_inner);
        let listed: Vec<(String, &OfTool)> = tools
            .iter()
            .filter(|(name, _)| &***name == OTHER || shows(name))
            .map(|(name, of_tool)| (label(name), of_tool))
            .collect();
        let mut text = String::new();
        head(&mut text, "toolkit_web_calls_total", "counter", "Calls that began, by tool and outcome.");
        for (name, of_tool) in &listed {
            for (outcome, count) in &of_tool.outcomes {
                let labels = format!("tool=\"{name}\",outcome=\"{outcome}\"");
                let _ = writeln!(text, "toolkit_web_calls_total{{{labels}}} {count}");
            }
        }
        let name = "toolkit_web_call_duration_seconds";
        head(&mut text, name, "histogram", "Time that a call took, by tool.");
        for (tool, of_tool) in &listed {
            let mut sum = 0;
            for (bound, count) in BOUNDS.iter().zip(of_tool.durations) {
                sum += count;
                let _ = writeln!(text, "{name}_bucket{{tool=\"{tool}\",le=\"{bound}\"}} {sum}");
            }
            let (count, seconds) = (of_tool.count, of_tool.seconds);
            let _ = writeln!(text, "{name}_bucket{{tool=\"{tool}\",le=\"+Inf\"}} {count}");
            let _ = writeln!(text, "{name}_sum{{tool=\"{tool}\"}} {seconds}");
            let _ = writeln!(text, "{name}_count{{tool=\"{tool}\"}} {count}");
        }
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

fn head(text: &mut String, name: &str, kind: &str, help: &str) {
    let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

/// Returns a name as the value of a label.
fn label(name: &str) -> String {
    name.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_by_tool_outcome_and_time() {
        let metrics = Arc::new(Metrics::default());
        let running = metrics.begin();
        metrics.note("add", "ok", Duration::from_millis(7));
        metrics.note("add", "failed", Duration::from_hours(1));
        metrics.note("a\"b", "ok", Duration::ZERO);
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

    #[test]
    fn the_number_of_labels_is_bounded() {
        let metrics = Metrics::default();
        for number in 0..2 * MAX_MEASURED {
            metrics.note(&number.to_string(), "ok", Duration::ZERO);
        }
        assert_eq!(metrics.tools.lock().unwrap().len(), MAX_MEASURED + 1);
        let text = metrics.text(Gauges::default(), |_| false);
        assert!(text.contains(&format!("tool=\"_other\",outcome=\"ok\"}} {MAX_MEASURED}")), "{text}");
    }
}
