//! Messages that are queued while a run goes on, and delivered at its next turn.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// The most messages of the user that wait; a further one is refused.
const MAX_MESSAGES: usize = 1_000;
/// The most ends of background jobs that wait; further ones are only counted.
const MAX_ENDED: usize = 1_000;

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
    /// A message of the user, with its id if it has one.
    Message { id: Option<String>, text: String },
    /// A background job ended.
    JobEnded(String),
    /// So many further jobs ended.
    MoreEnded(usize),
}

/// A message was refused: too many wait already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the message was not taken: {MAX_MESSAGES} messages wait for the model already; send it again later")]
pub struct QueueFull;

impl Queued {
    /// The message as the model reads it.
    pub(crate) fn text(&self) -> String {
        match self {
            Self::Message { text, .. } => text.clone(),
            Self::JobEnded(title) => format!("[A background job ended: {title}]"),
            Self::MoreEnded(count) => format!("[{count} more background jobs ended]"),
        }
    }
}

impl Steering {
    /// Queues a message of the user.
    ///
    /// # Errors
    ///
    /// 1,000 messages wait already; none of them is dropped for this one.
    pub fn send(&self, text: impl Into<String>) -> Result<(), QueueFull> {
        self.queue_message(None, text.into())
    }

    /// Queues a message of the user with an id. [`AgentEvent::Delivered`](crate::AgentEvent::Delivered) names it once its line in the transcript is
    /// on the disk.
    ///
    /// # Errors
    ///
    /// As [`send`](Self::send).
    pub fn send_as(&self, id: impl Into<String>, text: impl Into<String>) -> Result<(), QueueFull> {
        self.queue_message(Some(id.into()), text.into())
    }

    fn queue_message(&self, id: Option<String>, text: String) -> Result<(), QueueFull> {
        {
            let mut queue = self.queue();
            let is_message = |queued: &&Queued| matches!(queued, Queued::Message { .. });
            if queue.iter().filter(is_message).count() >= MAX_MESSAGES {
                return Err(QueueFull);
            }
            queue.push_back(Queued::Message { id, text });
        }
        self.0.arrived.notify_waiters();
        Ok(())
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

    /// Queues the end of a background job.
    pub(crate) fn job_ended(&self, title: String) {
        {
            let mut queue = self.queue();
            let ended = queue.iter().filter(|queued| matches!(queued, Queued::JobEnded(_))).count();
            if ended < MAX_ENDED {
                queue.push_back(Queued::JobEnded(title));
            } else if let Some(Queued::MoreEnded(count)) =
                queue.iter_mut().find(|queued| matches!(queued, Queued::MoreEnded(_)))
            {
                *count += 1;
            } else {
                queue.push_back(Queued::MoreEnded(1));
            }
        }
        self.0.arrived.notify_waiters();
    }

    /// Removes a message of the user by its id. Returns false if it is not there any more.
    pub(crate) fn remove(&self, message: &str) -> bool {
        let mut queue = self.queue();
        let is_it = |queued: &Queued| matches!(queued, Queued::Message { id: Some(id), .. } if id == message);
        let place = queue.iter().position(is_it);
        place.and_then(|place| queue.remove(place)).is_some()
    }

    /// Removes all messages of the user, which whoever sent them sends again.
    pub(crate) fn remove_messages(&self) {
        self.queue().retain(|queued| !matches!(queued, Queued::Message { id: Some(_), .. }));
    }

    /// Takes the message that has waited for the longest time.
    pub(crate) fn take_first(&self) -> Option<Queued> {
        self.queue().pop_front()
    }

    /// Puts a message back that could not be added to the conversation.
    pub(crate) fn put_back(&self, queued: Queued) {
        self.queue().push_front(queued);
    }

    fn queue(&self) -> MutexGuard<'_, VecDeque<Queued>> {
        self.0.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
