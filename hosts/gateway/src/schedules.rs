//! The schedules at work: fires begin when they are due, and end with their runs.
//!
//! ```text
//! due ──► claim: fire, next time, message ──► sessions ──► run ends ──► fire ends, failures counted
//!                fire of a tool           ──► ToolJobs ──► result   ──►
//! ```
//!
//! The store decides what fires. This task looks when the next fire is due, when something happens in the store, and at least each half
//! minute, since the clock may be set.

mod tools;

pub use tools::{ToolJobError, ToolJobs};

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::sessions::Sessions;
use crate::store::{EventFilter, Store, StoreError};

/// The longest time between two looks: the clock may be set meanwhile.
const RECHECK: Duration = Duration::from_secs(30);
/// Time after which a store that failed is tried again.
const RETRY: Duration = Duration::from_secs(1);
/// Events that are read at once.
const EVENTS_AT_ONCE: u32 = 1_000;

/// The schedules of a gateway at work. Cheap to clone.
#[derive(Clone)]
pub struct Schedules(Arc<Inner>);

struct Inner {
    sessions: Sessions,
    /// Notified when the clock was set.
    changed: Notify,
    /// Cancelled when no further fire begins.
    stopping: CancellationToken,
    /// Cancelled when tools at work are interrupted.
    interrupting: CancellationToken,
    tools: TaskTracker,
    task: Mutex<Option<JoinHandle<()>>>,
}

impl Schedules {
    /// Ends the fires of tools that an ended process has left, and begins fires as they are due. Must be called within a tokio runtime,
    /// once for a store.
    ///
    /// # Errors
    ///
    /// The store cannot be written.
    pub async fn start(sessions: Sessions, tools: impl ToolJobs) -> Result<Self, StoreError> {
        sessions.store().interrupt_fires().await?;
        let schedules = Self(Arc::new(Inner {
            sessions,
            changed: Notify::new(),
            stopping: CancellationToken::new(),
            interrupting: CancellationToken::new(),
            tools: TaskTracker::new(),
            task: Mutex::default(),
        }));
        let task = tokio::spawn(work(Arc::clone(&schedules.0), Arc::new(tools)));
        *schedules.0.task.lock().unwrap_or_else(PoisonError::into_inner) = Some(task);
        Ok(schedules)
    }

    /// Looks at once, since the clock was set.
    pub fn check(&self) {
        self.0.changed.notify_one();
    }

    /// Begins no further fire, lets tools at work end within a time, and interrupts the rest. Done before the sessions are stopped.
    pub async fn stop(&self, within: Duration) {
        self.0.stopping.cancel();
        let task = self.0.task.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(task) = task {
            let _ = task.await;
        }
        self.0.tools.close();
        let _ = tokio::time::timeout(within, self.0.tools.wait()).await;
        self.0.interrupting.cancel();
        self.0.tools.wait().await;
    }
}

impl fmt::Debug for Schedules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Schedules").finish_non_exhaustive()
    }
}

async fn work(inner: Arc<Inner>, tools: Arc<impl ToolJobs>) {
    let mut last_event = inner.store().last_event();
    let mut seen = *last_event.borrow_and_update();
    while !inner.stopping.is_cancelled() {
        let wait = match pass(&inner, &tools).await {
            Ok(wait) => wait,
            Err(error) => {
                tracing::error!(%error, "no fire can begin or end; the store is tried again");
                RETRY
            }
        };
        let time_is_up = tokio::time::sleep(wait);
        tokio::pin!(time_is_up);
        loop {
            tokio::select! {
                () = &mut time_is_up => break,
                () = inner.changed.notified() => break,
                () = inner.stopping.cancelled() => return,
                // The sender is gone once the store is closed.
                Ok(()) = last_event.changed() => {
                    last_event.borrow_and_update();
                    if is_concerned(inner.store(), &mut seen).await {
                        break;
                    }
                }
            }
        }
    }
}

/// Ends what has ended, begins what is due, and returns the time until the next look.
async fn pass(inner: &Arc<Inner>, tools: &Arc<impl ToolJobs>) -> Result<Duration, StoreError> {
    let store = inner.store();
    store.settle_fires().await?;
    for message in store.expire_fires().await? {
        inner.sessions.cancel_message(message).await?;
    }
    while !inner.stopping.is_cancelled()
        && let Some(claimed) = store.claim_fire().await?
    {
        if claimed.fire.message.is_some() {
            inner.sessions.notify();
        } else {
            let (store, interrupting) = (store.clone(), inner.interrupting.clone());
            inner.tools.spawn(tools::run(store, Arc::clone(tools), claimed, interrupting));
        }
    }
    let next = store.next_due().await?;
    Ok(next.map_or(RECHECK, |next| next.since(store.clock().now()).min(RECHECK)))
}

/// Reads the events since the last look, and returns true if one of them may end or begin a fire.
async fn is_concerned(store: &Store, seen: &mut i64) -> bool {
    let mut is_concerned = false;
    loop {
        match store.events(*seen, EventFilter::default(), EVENTS_AT_ONCE).await {
            Ok(events) => {
                let Some(last) = events.last() else { return is_concerned };
                *seen = last.seq;
                is_concerned |= events.iter().any(|event| {
                    event.kind.starts_with("job.")
                        || ["run.begun", "run.ended", "message.cancelled", "fire.ended"]
                            .contains(&event.kind.as_str())
                });
            }
            Err(_) => return true,
        }
    }
}

impl Inner {
    fn store(&self) -> &Store {
        self.sessions.store()
    }
}
