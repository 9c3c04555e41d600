//! Counts of all that is in the store, or of what one person sees of it.

use rusqlite::params;
use serde::Serialize;

use super::outbox::{DeliveryCounts, DeliveryState};
use super::visible::visible;
use super::{Store, StoreError};

/// How much there is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// Sessions that are not archived.
    pub sessions: u64,
    /// Runs that have a slot.
    pub running: u64,
    /// Runs in flight that have none.
    pub waiting: u64,
    /// Messages that wait for a run.
    pub queued: u64,
    /// Deliveries.
    pub outbox: DeliveryCounts,
}

impl Store {
    /// Counts what there is; of a person, in the sessions that they see.
    pub async fn counts(&self, seen_by: Option<String>) -> Result<Counts, StoreError> {
        self.read(move |connection| {
            // One state of the store: what goes on between two counts would be in none of them.
            let connection = connection.unchecked_transaction()?;
            let tree = visible("?1");
            let count = |of: &str| {
                let sql = format!("WITH RECURSIVE {tree} SELECT count(*) FROM {of}");
                connection
                    .prepare_cached(&sql)?
                    .query_row(params![seen_by], |row| row.get::<_, i64>(0))
                    .map(i64::unsigned_abs)
            };
            let seen = |column: &str| format!("(?1 IS NULL OR {column} IN (SELECT key FROM visible))");
            let of_session = seen("session");
            let mut counts = Counts {
                sessions: count(&format!("sessions WHERE archived_at IS NULL AND {}", seen("key")))?,
                running: count(&format!(
                    "runs WHERE ended_at IS NULL AND state = 'running' AND {of_session}"
                ))?,
                waiting: count(&format!(
                    "runs WHERE ended_at IS NULL AND state = 'waiting' AND {of_session}"
                ))?,
                queued: count(&format!("inbox WHERE state = 'queued' AND {of_session}"))?,
                outbox: DeliveryCounts::default(),
            };
            let sql = format!(
                "WITH RECURSIVE {tree} SELECT state, count(*) FROM outbox WHERE {of_session} GROUP BY state"
            );
            let mut statement = connection.prepare_cached(&sql)?;
            let mut rows = statement.query(params![seen_by])?;
            while let Some(row) = rows.next()? {
                counts.outbox.set(row.get::<_, DeliveryState>(0)?, row.get::<_, i64>(1)?.unsigned_abs());
            }
            Ok(counts)
        })
        .await
    }
}
