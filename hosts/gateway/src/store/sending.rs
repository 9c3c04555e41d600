//! Messages that a session sends to another: stored, and waited for, in one step.

use serde_json::json;

use super::damage::Fault;
use super::handover::SENT;
use super::ids::{MessageId, digest};
use super::inbox::{self, Acceptance, NewMessage};
use super::waits::{self, WaitCycle};
use super::{Store, StoreError, budgets, sessions, visible};
use crate::SessionKey;

/// The sender of a message that is not named.
const UNNAMED: &str = "a session of another person";

/// A message that a session sends to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSend {
    /// The session that sends.
    pub from: SessionKey,
    /// The session that receives, which exists.
    pub to: SessionKey,
    /// The text, as the receiving agent reads it.
    pub text: String,
    /// True if the receiver and its events may name the sender. It may not where that belongs to another person.
    pub names_sender: bool,
    /// Names the call that sends, and no other: the same a second time is the same message.
    pub origin: String,
    /// True if the sender waits for the answer.
    pub waits: bool,
    /// The job whose tool sends, in place of a run of the session.
    pub job: Option<String>,
}

/// The outcome of a message that a session sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SendStored {
    /// It is stored.
    Sent {
        /// Its number.
        id: MessageId,
        /// The number of the wait, if the sender waits.
        wait: Option<i64>,
    },
    /// It was stored before, by the same call.
    Again {
        /// Its number.
        id: MessageId,
    },
    /// Waiting would never end; nothing was stored.
    Cycle(WaitCycle),
    /// So many messages wait in the session that no more is taken.
    QueueFull {
        /// The limit.
        limit: u32,
    },
}

impl Store {
    /// Stores a message that a session sends to another, with the wait of the sender, in one transaction.
    ///
    /// # Errors
    ///
    /// There is no such session, its person is blocked, or the message is too long.
    pub async fn send_between(&self, send: NewSend) -> Result<SendStored, StoreError> {
        let max_queued = self.0.options.max_queued;
        let stored = self
            .write(move |writing| {
                let id = digest(&send.origin);
                if let Some(id) = inbox::known(writing.sql, SENT, &id)? {
                    return Ok(SendStored::Again { id });
                }
                for key in [&send.from, &send.to] {
                    if sessions::found(writing.sql, key)?.is_none() {
                        return Err(sessions::no_session(key));
                    }
                }
                if visible::is_blocked(writing.sql, &send.from)?
                    || visible::is_blocked(writing.sql, &send.to)?
                {
                    return Err(Fault::Refused("the person of the session is blocked".to_owned()));
                }
                if send.waits
                    && let Some(cycle) = waits::cycle(writing.sql, &send.from, &send.to)?
                {
                    return Ok(SendStored::Cycle(cycle));
                }
                let (body, sender) = if send.names_sender {
                    (json!({ "text": send.text, "from": send.from }), send.from.as_str())
                } else {
                    (json!({ "text": send.text }), UNNAMED)
                };
                let job = match send.job {
                    Some(job) => Some(job),
                    None => budgets::job_in_flight(writing.sql, &send.from)?,
                };
                let message =
                    NewMessage::new(SENT, id, send.to.clone(), body).with_sender(sender).with_job(job);
                match inbox::accept(writing, &message, max_queued)? {
                    Acceptance::Accepted { id } => {
                        let begin = || waits::begin(writing, &send.from, &send.to);
                        let wait = send.waits.then(begin).transpose()?;
                        Ok(SendStored::Sent { id, wait })
                    }
                    Acceptance::Again { id, .. } => Ok(SendStored::Again { id }),
                    Acceptance::QueueFull { limit } => Ok(SendStored::QueueFull { limit }),
                }
            })
            .await?;
        crate::fail_points::pass("after_send_between");
        Ok(stored)
    }

    /// Returns the number of the message that a call of a session sent.
    pub async fn sent_by(&self, origin: &str) -> Result<Option<MessageId>, StoreError> {
        let id = digest(origin);
        self.read(move |connection| inbox::known(connection, SENT, &id)).await
    }
}
