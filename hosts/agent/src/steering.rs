//! Messages that are queued while a run goes on, and delivered at its next turn.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// The most messages that wait; of more, the oldest end of background jobs goes, and then the oldest message.
const MAX_QUEUED: usize = 1_000;

/// A handle by which messages reach a run that goes on. Cheap to clone.
///
/// A message is delivered at the next turn of the model, after the results of all tool calls. One that comes when the model gives
/// its final answer is delivered too, and the run goes on.
#[derive(Debug, Clone, Default)]
pub struct Steering(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<VecDeque<Queued>>,
    arrived: Notify,
}

/// A message that waits for the next turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Queued {
    /// A message of the user.
    Message(String),
    /// A background job ended.
    JobEnded(String),
}

impl Queued {
    /// The message as the model reads it.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Message(text) => text.clone(),
            Self::JobEnded(title) => format!("[A background job ended: {title}]"),
        }
    }
}

impl Steering {
    /// Queues a message of the user.
    pub fn send(&self, text: impl Into<String>) {
        self.push(Queued::Message(text.into()));
    }

    /// Returns true if a message waits.
    pub fn is_waiting(&self) -> bool {
        !self.queue().is_empty()
    }

    /// Waits until a message waits.
    pub async fn arrived(&self) {
        loop {
            let arrived = self.0.arrived.notified();
            if self.is_waiting() {
                return;
            }
            arrived.await;
        }
    }

    pub(crate) fn push(&self, queued: Queued) {
        {
            let mut queue = self.queue();
            if queue.len() >= MAX_QUEUED {
                let job = queue.iter().position(|queued| matches!(queued, Queued::JobEnded(_)));
                queue.remove(job.unwrap_or(0));
            }
            queue.push_back(queued);
        }
        self.0.arrived.notify_waiters();
    }

    /// Takes all messages that wait.
    pub(crate) fn take(&self) -> Vec<Queued> {
        self.queue().drain(..).collect()
    }

    fn queue(&self) -> MutexGuard<'_, VecDeque<Queued>> {
        self.0.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
