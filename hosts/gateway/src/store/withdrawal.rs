//! Messages that are taken back.

use rusqlite::params;

use super::handover::{self, Outcome};
use super::ids::MessageId;
use super::inbox::{self, CancelOutcome, MessageState};
use super::{Store, StoreError};

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
            inbox::cancel(writing, &message)?;
            handover::report(writing, &message, &format!("message/{}", id.0), Outcome::Cancelled)?;
            Ok(CancelOutcome::Cancelled)
        })
        .await
    }
}
