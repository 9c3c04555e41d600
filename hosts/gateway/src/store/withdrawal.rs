//! Messages that are taken back.

use rusqlite::params;

use super::damage::Fault;
use super::handover::{self, Outcome};
use super::ids::MessageId;
use super::inbox::{self, CancelOutcome, Message, MessageState};
use super::writer::Writing;
use super::{Store, StoreError, budgets};

impl Store {
    /// Takes a message back, if no run has taken it. Where it was the task of a sub-agent, the session above is told.
    pub async fn cancel_message(&self, id: MessageId) -> Result<CancelOutcome, StoreError> {
        self.write(move |writing| {
            let Some(message) = inbox::select(writing.sql, "id = ?1", params![id])?.pop() else {
                return Ok(CancelOutcome::Unknown);
            };
            if message.state != MessageState::Queued {
                return Ok(CancelOutcome::TooLate { state: message.state, run: message.run });
            }
            take_back(writing, &message)?;
            Ok(CancelOutcome::Cancelled)
        })
        .await
    }
}

/// Takes a message back that waits, as part of a command. Where it was the task of a sub-agent, the session above is told.
pub(super) fn take_back(writing: &Writing<'_>, message: &Message) -> Result<(), Fault> {
    inbox::cancel(writing, message)?;
    let job = budgets::job_of_message(writing.sql, message.id)?;
    handover::report(writing, message, &format!("message/{}", message.id.0), job, Outcome::Cancelled)
}
