//! How long rows are kept.

use std::sync::PoisonError;
use std::time::Duration;

use rusqlite::params;
use serde::Serialize;

use super::clock::Moment;
use super::damage::Fault;
use super::writer::Writing;
use super::{Store, StoreError, budgets, fires, outbox};

/// Time for which consumed messages, and deliveries in their last state, are kept.
const KEPT_MESSAGES: Duration = Duration::from_hours(30 * 24);
/// Time for which ended runs are kept.
const KEPT_RUNS: Duration = Duration::from_hours(90 * 24);
/// Time for which events are kept.
const KEPT_EVENTS: Duration = Duration::from_hours(7 * 24);
/// Time for which questions are kept after their time is over.
const KEPT_ASKS: Duration = Duration::from_hours(7 * 24);
/// Time for which a token is kept after it expired.
const KEPT_TOKENS: Duration = Duration::from_hours(30 * 24);
/// Time for which the session of a sub-agent is kept after it was active last.
const KEPT_SUBS: Duration = Duration::from_hours(90 * 24);
/// Time for which a node is kept after it was revoked.
const KEPT_NODES: Duration = Duration::from_hours(400 * 24);
/// Time for which an unknown sender is kept after their last message.
const KEPT_STRANGERS: Duration = Duration::from_hours(30 * 24);
/// Events that are kept.
const MAX_EVENTS: i64 = 100_000;
/// Rows of one table that one transaction removes, so that other commands do not wait for long.
const MAX_REMOVED: u32 = 1_000;

/// A clean-up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CleanUp {
    /// When it was.
    pub at: Moment,
    /// The rows that were removed, or died, since the store was opened.
    pub removed: u64,
}

impl Store {
    /// Returns the last clean-up since the store was opened.
    pub fn last_clean_up(&self) -> Option<CleanUp> {
        *self.0.last_clean_up.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes rows that are no longer kept, up to 1,000 of each table, lets deliveries die that have waited too long, and returns how many
    /// rows these were. Zero means that nothing is left to do.
    ///
    /// Messages, deliveries and fires of jobs in their last state are kept 30 days, runs 90 days after their end, tokens 30 days after they expired,
    /// questions seven days after their time is over, sessions of sub-agents 90 days after they were active last, the newest 100,000 events seven
    /// days, the use of days 62 days and of months 400 days, revoked nodes 400 days, unknown senders 30 days after their last message. Rows that wait are never removed.
    pub async fn clean_up(&self) -> Result<usize, StoreError> {
        let (at, removed) = self.write(clean_up).await?;
        let mut last = self.0.last_clean_up.lock().unwrap_or_else(PoisonError::into_inner);
        let before = last.map_or(0, |last| last.removed);
        *last = Some(CleanUp { at, removed: before.saturating_add(removed as u64) });
        Ok(removed)
    }
}

fn clean_up(writing: &Writing<'_>) -> Result<(Moment, usize), Fault> {
    let now = writing.now;
    // Also for accounts for which nobody sends any more.
    let late = "state = 'prepared' AND expires_at <= ?1 ORDER BY expires_at LIMIT ?2";
    let mut removed = outbox::expire(writing, late, params![now, MAX_REMOVED])?;
    for (sql, before) in [
                (
                    "DELETE FROM inbox WHERE id IN (
                         SELECT id FROM inbox WHERE state IN ('consumed', 'cancelled') AND changed_at < ?1
                             AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.id = inbox.run AND runs.ended_at IS NULL) LIMIT ?2)",
                    now.before(KEPT_MESSAGES),
                ),
                (
                    "DELETE FROM outbox WHERE id IN (
                         SELECT id FROM outbox WHERE state IN ('delivered', 'unknown', 'dead') AND changed_at < ?1 LIMIT ?2)",
                    now.before(KEPT_MESSAGES),
                ),
                (
                    "DELETE FROM runs WHERE id IN (SELECT id FROM runs WHERE ended_at < ?1 LIMIT ?2)",
                    now.before(KEPT_RUNS),
                ),
                (
                    "DELETE FROM asks WHERE digest IN (SELECT digest FROM asks WHERE expires_at < ?1 LIMIT ?2)",
                    now.before(KEPT_ASKS),
                ),
                (
                    "DELETE FROM fires WHERE (job, at, is_manual) IN (
                         SELECT job, at, is_manual FROM fires WHERE ended_at < ?1 LIMIT ?2)",
                    now.before(fires::KEPT_FOR),
                ),
                (
                    "DELETE FROM events WHERE seq IN (SELECT seq FROM events WHERE at < ?1 ORDER BY seq LIMIT ?2)",
                    now.before(KEPT_EVENTS),
                ),
                (
                    "DELETE FROM sessions WHERE key IN (
                         SELECT key FROM sessions WHERE kind = 'sub' AND active_at < ?1
                             AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.session = key AND runs.ended_at IS NULL)
                             AND NOT EXISTS (SELECT 1 FROM inbox WHERE inbox.session = key AND inbox.state = 'queued')
                             AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.session = key)
                             AND NOT EXISTS (SELECT 1 FROM sessions AS below WHERE below.parent = sessions.key) LIMIT ?2)",
                    now.before(KEPT_SUBS),
                ),
                (
                    "DELETE FROM tokens WHERE name IN (SELECT name FROM tokens WHERE expires_at < ?1 LIMIT ?2)",
                    now.before(KEPT_TOKENS),
                ),
                (
                    "DELETE FROM nodes WHERE id IN (
                         SELECT id FROM nodes WHERE state = 'revoked' AND changed_at < ?1 LIMIT ?2)",
                    now.before(KEPT_NODES),
                ),
                (
                    "DELETE FROM strangers WHERE (channel, account, sender) IN (
                         SELECT channel, account, sender FROM strangers WHERE last_at < ?1 AND denied_at IS NULL LIMIT ?2)",
                    now.before(KEPT_STRANGERS),
                ),
                (
                    "DELETE FROM nodes WHERE id IN (SELECT id FROM nodes WHERE state = 'pending' AND expires_at < ?1 LIMIT ?2)",
                    now,
                ),
            ] {
                removed += writing.sql.prepare_cached(sql)?.execute(params![before, MAX_REMOVED])?;
            }
    removed += budgets::forget_old(writing, MAX_REMOVED)?;
    removed += writing
                .sql
                .prepare_cached(
                    "DELETE FROM events WHERE seq IN (
                         SELECT seq FROM events WHERE seq <= (SELECT max(seq) FROM events) - ?1 ORDER BY seq LIMIT ?2)",
                )?
                .execute(params![MAX_EVENTS, MAX_REMOVED])?;
    Ok((now, removed))
}
