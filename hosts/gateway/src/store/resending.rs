//! Deliveries of which nobody knows whether they arrived, sent once more because a person says so.

use std::time::Duration;

use rusqlite::{OptionalExtension as _, params};
use serde_json::json;

use super::damage::Fault;
use super::{DeliveryState, Store, StoreError, events, people};

/// Time within which a part that is sent once more has to leave.
const WITHIN: Duration = Duration::from_hours(24);

impl Store {
    /// Prepares a part again whose state is unknown, under its key and in the place of its number. The reason says who wanted it.
    ///
    /// # Errors
    ///
    /// A refusal if its state is another one, or there is no such part.
    pub async fn resend(&self, id: i64, by: &str) -> Result<(), StoreError> {
        let by = by.to_owned();
        self.write(move |writing| {
            let reason = format!("sent once more, as {by} wants");
            let changed: Option<Option<String>> = writing
                .sql
                .prepare_cached(
                    "UPDATE outbox SET state = 'prepared', reason = ?2, not_before = ?3, expires_at = ?4, changed_at = ?3
                     WHERE id = ?1 AND state = 'unknown' RETURNING session",
                )?
                .query_row(params![id, reason, writing.now, writing.now.after(WITHIN)], |row| row.get(0))
                .optional()?;
            let Some(session) = changed else {
                let state: Option<DeliveryState> = writing
                    .sql
                    .prepare_cached("SELECT state FROM outbox WHERE id = ?1")?
                    .query_row([id], |row| row.get(0))
                    .optional()?;
                return Err(Fault::Refused(state.map_or_else(
                    || format!("there is no delivery {id}"),
                    |state| {
                        format!("the delivery {id} is `{}`: only one that is `unknown` is sent once more", state.name())
                    },
                )));
            };
            let data = json!({ "delivery": id, "by": by });
            // Whoever sends waits for the event.
            match (session, people::owner(writing.sql)?) {
                (Some(session), _) => events::write(writing, &session, "delivery.prepared", &data),
                (None, Some(owner)) => events::write_of_person(writing, &owner, "delivery.prepared", &data),
                (None, None) => Ok(()),
            }
        })
        .await
    }
}
