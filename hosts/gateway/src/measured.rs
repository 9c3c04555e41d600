//! The counts of the calls of all tools, whoever calls them.

use std::fmt;
use std::sync::Arc;

use tokio::task::JoinHandle;
use toolkit::events::{Event, Events};
use toolkit::{ToolError, ToolErrorKind, Toolkit};
use toolkit_web::CallCounts;

/// The label of calls of tools that are not there.
const UNKNOWN: &str = "_unknown";

/// Counts the calls of a toolkit, by tool and outcome: those of agents, of jobs, and over HTTP. Cheap to clone; it counts until the last clone is
/// dropped.
#[derive(Clone)]
pub struct Measured(Arc<Counting>);

struct Counting {
    counts: Arc<CallCounts>,
    task: JoinHandle<()>,
}

impl Drop for Counting {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Measured {
    /// Counts the calls of a toolkit from now on. Must be called within a tokio runtime.
    pub fn calls_of(toolkit: &Toolkit) -> Self {
        let counts = Arc::<CallCounts>::default();
        let (events, toolkit) = (toolkit.events(), toolkit.clone());
        let task = tokio::spawn(count(toolkit, events, Arc::clone(&counts)));
        Self(Arc::new(Counting { counts, task }))
    }

    /// The counts.
    pub(crate) fn counts(&self) -> &CallCounts {
        &self.0.counts
    }
}

impl fmt::Debug for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Measured").field("counts", &self.0.counts).finish_non_exhaustive()
    }
}

async fn count(toolkit: Toolkit, mut events: Events, counts: Arc<CallCounts>) {
    loop {
        while let Some(event) = events.next().await {
            if let Event::Finished { result, duration } = event.event {
                match result.error().map(ToolError::kind) {
                    None => counts.note(&event.tool, "ok", duration),
                    // A name that a model made up is no label.
                    Some(kind @ ToolErrorKind::UnknownTool) => {
                        counts.note(UNKNOWN, &kind.to_string(), duration);
                    }
                    Some(kind) => counts.note(&event.tool, &kind.to_string(), duration),
                }
            }
        }
        if !events.is_cut_off() {
            return;
        }
        // So many calls ended at once that some are not counted.
        tracing::warn!("the metrics miss calls: more ended than could be counted");
        events = toolkit.events();
    }
}
