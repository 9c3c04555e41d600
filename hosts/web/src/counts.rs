//! Counts of calls, in the text format of Prometheus.

use crate::limits::MAX_MEASURED;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Upper bounds of the histogram of durations, in seconds.
const BOUNDS: [f64; 12] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0, 600.0];
/// The label of calls of tools beyond the limit.
const OTHER: &str = "_other";

/// Counts calls by tool and outcome, and their durations: of at most 500 tools, the calls of all others together as `_other`.
///
/// ```
/// use std::time::Duration;
/// use toolkit_web::CallCounts;
///
/// let counts = CallCounts::default();
/// counts.note("clock", "ok", Duration::from_millis(3));
/// let text = counts.text("my_host", |_| true);
/// assert!(text.contains("my_host_calls_total{tool=\"clock\",outcome=\"ok\"} 1"));
/// ```
#[derive(Debug, Default)]
pub struct CallCounts {
    tools: Mutex<BTreeMap<Arc<str>, OfTool>>,
}

#[derive(Debug, Default)]
struct OfTool {
    outcomes: BTreeMap<Box<str>, u64>,
    /// Calls up to each bound, each counted once.
    durations: [u64; BOUNDS.len()],
    seconds: f64,
    count: u64,
}

impl CallCounts {
    /// Counts a call of a tool that is there, which took some time. The outcome is a word, such as `ok`.
    pub fn note(&self, tool: &str, outcome: &str, time: Duration) {
        let mut tools = self.tools();
        let name = if tools.contains_key(tool) || tools.len() < MAX_MEASURED { tool } else { OTHER };
        let of_tool = tools.entry(name.into()).or_default();
        match of_tool.outcomes.get_mut(outcome) {
            Some(count) => *count += 1,
            None => drop(of_tool.outcomes.insert(outcome.into(), 1)),
        }
        let seconds = time.as_secs_f64();
        if let Some(place) = BOUNDS.iter().position(|bound| seconds <= *bound) {
            of_tool.durations[place] += 1;
        }
        of_tool.seconds += seconds;
        of_tool.count += 1;
    }

    /// Returns the text, with the tools for which `shows` returns true: `PREFIX_calls_total` and the histogram `PREFIX_call_duration_seconds`.
    pub fn text(&self, prefix: &str, shows: impl Fn(&str) -> bool) -> String {
        let tools = self.tools();
        let listed: Vec<(String, &OfTool)> = tools
            .iter()
            .filter(|(name, _)| &***name == OTHER || shows(name))
            .map(|(name, of_tool)| (label(name), of_tool))
            .collect();
        let mut text = String::new();
        let name = format!("{prefix}_calls_total");
        head(&mut text, &name, "counter", "Calls that began, by tool and outcome.");
        for (tool, of_tool) in &listed {
            for (outcome, count) in &of_tool.outcomes {
                let _ = writeln!(text, "{name}{{tool=\"{tool}\",outcome=\"{outcome}\"}} {count}");
            }
        }
        let name = format!("{prefix}_call_duration_seconds");
        head(&mut text, &name, "histogram", "Time that a call took, by tool.");
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
        text
    }

    fn tools(&self) -> MutexGuard<'_, BTreeMap<Arc<str>, OfTool>> {
        self.tools.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) fn head(text: &mut String, name: &str, kind: &str, help: &str) {
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
    fn the_number_of_labels_is_bounded() {
        let counts = CallCounts::default();
        for number in 0..2 * MAX_MEASURED {
            counts.note(&number.to_string(), "ok", Duration::ZERO);
        }
        assert_eq!(counts.tools().len(), MAX_MEASURED + 1);
        let text = counts.text("toolkit", |_| false);
        assert!(text.contains(&format!("tool=\"_other\",outcome=\"ok\"}} {MAX_MEASURED}")), "{text}");
    }
}
