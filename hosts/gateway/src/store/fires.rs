//! Fires: each run of a job, and how it ends. A fire is known by its job and its time on the schedule.

use std::time::Duration;

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde::Serialize;
use serde_json::json;

use super::clock::Moment;
use super::damage::Fault;
use super::ids::{MessageId, RunId};
use super::jobs::{self, Job, JobId};
use super::named::named;
use super::origin::Origin;
use super::outbox::{self, NewDelivery};
use super::runs::RunState;
use super::writer::Writing;
use super::{Store, StoreError, events};
use crate::recurrence::Schedule;
use crate::{SessionKey, fail_points};

/// Time for which ended fires are kept.
pub(super) const KEPT_FOR: Duration = Duration::from_hours(30 * 24);
/// The most fires that one reading returns.
const MAX_LISTED: u32 = 1_000;
/// The longest reason or result that is stored, in characters.
const MAX_TEXT_CHARS: usize = 4_000;

/// How far a fire is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum FireState {
    /// Its message waits or is being answered, or its tool is at work.
    Begun,
    /// It ended well.
    Done,
    /// It failed.
    Failed,
    /// It took longer than its time-out, and was cancelled.
    Late,
    /// It was cancelled.
    Cancelled,
    /// The process ended while its tool was at work; it is not repeated.
    Interrupted,
    /// It was missed, and is not made up for; or a budget did not allow it.
    Skipped,
}

named!(FireState {
    Begun = "begun",
    Done = "done",
    Failed = "failed",
    Late = "late",
    Cancelled = "cancelled",
    Interrupted = "interrupted",
    Skipped = "skipped"
});

/// The id of a fire.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FireId {
    /// The job.
    pub job: JobId,
    /// The time on its schedule; that of the request for one beside the schedule.
    pub at: Moment,
    /// True for one beside the schedule.
    pub is_manual: bool,
}

/// A run of a job.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Fire {
    /// Its id.
    #[serde(flatten)]
    pub id: FireId,
    /// The session of its job.
    pub session: SessionKey,
    /// How far it is.
    pub state: FireState,
    /// The message that begins its run; none for a call of a tool.
    pub message: Option<MessageId>,
    /// The number of missed times for which it stands beside its own; of those that were skipped, all. From 1,000 on it is the least.
    pub missed: u32,
    /// Why it did not end well.
    pub reason: Option<String>,
    /// The result of a tool.
    pub result: Option<String>,
    /// When it was claimed.
    pub begun_at: Moment,
    /// When it ended.
    pub ended_at: Option<Moment>,
}

/// How a fire ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FireEnd {
    /// Well, with the result of a tool.
    Done(Option<String>),
    /// It failed, for this reason.
    Failed(String),
    /// A budget did not allow it, or its next request, for this reason. It counts as no failure.
    Refused(String),
    /// It took longer than its time-out.
    Late(String),
    /// It was cancelled.
    Cancelled,
    /// The process ended while its tool was at work.
    Interrupted,
}

const COLUMNS: &str =
    "job, at, is_manual, session, state, message, missed, reason, result, begun_at, ended_at";

fn of_row(row: &Row<'_>) -> rusqlite::Result<Fire> {
    Ok(Fire {
        id: FireId { job: row.get(0)?, at: row.get(1)?, is_manual: row.get(2)? },
        session: row.get(3)?,
        state: row.get(4)?,
        message: row.get(5)?,
        missed: row.get(6)?,
        reason: row.get(7)?,
        result: row.get(8)?,
        begun_at: row.get(9)?,
        ended_at: row.get(10)?,
    })
}

/// Reads fires.
pub(super) fn select(
    connection: &Connection,
    condition: &str,
    values: &[&dyn ToSql],
) -> Result<Vec<Fire>, Fault> {
    let sql = format!("SELECT {COLUMNS} FROM fires WHERE {condition}");
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map(values, of_row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}

impl Store {
    /// Notes that runs of fires take longer than their jobs let them, and returns their messages, which have to be cancelled.
    pub async fn expire_fires(&self) -> Result<Vec<MessageId>, StoreError> {
        self.write(|writing| {
            let late = "ended_at IS NULL AND message IS NOT NULL AND EXISTS (
                    SELECT 1 FROM jobs, inbox, runs WHERE jobs.id = fires.job AND inbox.id = fires.message AND runs.id = inbox.run
                        AND runs.ended_at IS NULL AND runs.started_at + jobs.timeout <= ?1)";
            let fires = select(writing.sql, late, params![writing.now])?;
            for fire in fires.iter().filter(|fire| fire.reason.is_none()) {
                let sql = "UPDATE fires SET reason = ?4 WHERE job = ?1 AND at = ?2 AND is_manual = ?3";
                let FireId { job, at, is_manual } = &fire.id;
                let reason = "it took longer than the time-out of its job";
                writing.sql.prepare_cached(sql)?.execute(params![job, at, is_manual, reason])?;
            }
            Ok(fires.into_iter().filter_map(|fire| fire.message).collect())
        })
        .await
    }

    /// Ends the fires whose runs have ended, and returns how many.
    pub async fn settle_fires(&self) -> Result<usize, StoreError> {
        let settled = self
            .write(|writing| {
                let ended = "ended_at IS NULL AND message IS NOT NULL AND NOT EXISTS (
                        SELECT 1 FROM inbox LEFT JOIN runs ON runs.id = inbox.run WHERE inbox.id = fires.message
                            AND inbox.state <> 'cancelled' AND runs.ended_at IS NULL)";
                let fires = select(writing.sql, ended, &[])?;
                for fire in &fires {
                    let end = end_of(writing, fire)?;
                    finish(writing, &fire.id, end)?;
                }
                Ok(fires.len())
            })
            .await?;
        if settled > 0 {
            fail_points::pass("after_fire_end");
        }
        Ok(settled)
    }

    /// Ends a fire of a tool. Returns false, and changes nothing, if it has ended already.
    pub async fn end_fire(&self, id: &FireId, end: FireEnd) -> Result<bool, StoreError> {
        fail_points::pass("before_fire_end");
        let id = id.clone();
        let ended = self.write(move |writing| finish(writing, &id, end)).await?;
        fail_points::pass("after_fire_end");
        Ok(ended)
    }

    /// Ends the fires of tools that are in flight as interrupted, and returns how many; done at start, before anything is claimed.
    pub async fn interrupt_fires(&self) -> Result<usize, StoreError> {
        self.write(|writing| {
            let fires = select(writing.sql, "ended_at IS NULL AND message IS NULL", &[])?;
            for fire in &fires {
                finish(writing, &fire.id, FireEnd::Interrupted)?;
            }
            Ok(fires.len())
        })
        .await
    }

    /// Lists the fires of a job, the newest first: at most `limit`, and at most 1,000. Those of another person than the named one are not
    /// there.
    pub async fn fires(
        &self,
        job: &JobId,
        person: Option<String>,
        limit: u32,
    ) -> Result<Vec<Fire>, StoreError> {
        let job = job.clone();
        self.read(move |connection| {
            let condition =
                "job = ?1 AND (?2 IS NULL OR person = ?2) ORDER BY at DESC, is_manual DESC LIMIT ?3";
            select(connection, condition, params![job, person, limit.min(MAX_LISTED)])
        })
        .await
    }

    /// Lists the fires in flight.
    pub async fn fires_in_flight(&self) -> Result<Vec<Fire>, StoreError> {
        self.read(|connection| select(connection, "ended_at IS NULL ORDER BY begun_at, job", &[])).await
    }
}

/// The end of a fire, as the run of its message has it.
fn end_of(writing: &Writing<'_>, fire: &Fire) -> Result<FireEnd, Fault> {
    let sql = "SELECT runs.id, runs.state, runs.reason, runs.is_refused FROM inbox JOIN runs ON runs.id = inbox.run WHERE inbox.id = ?1";
    let run = writing
        .sql
        .prepare_cached(sql)?
        .query_row(params![fire.message], |row| {
            let (run, state) = (row.get::<_, RunId>(0)?, row.get::<_, RunState>(1)?);
            Ok((run, state, row.get::<_, Option<String>>(2)?, row.get::<_, bool>(3)?))
        })
        .optional()?;
    Ok(match (run, &fire.reason) {
        (Some((_, RunState::Answered, _, _)), _) => FireEnd::Done(None),
        (_, Some(late)) => FireEnd::Late(late.clone()),
        (Some((run, RunState::Failed, reason, is_refused)), None) => {
            let reason = reason.unwrap_or_else(|| format!("the run {run} failed"));
            if is_refused { FireEnd::Refused(reason) } else { FireEnd::Failed(reason) }
        }
        _ => FireEnd::Cancelled,
    })
}

fn finish(writing: &Writing<'_>, id: &FireId, end: FireEnd) -> Result<bool, Fault> {
    let in_flight = "job = ?1 AND at = ?2 AND is_manual = ?3 AND ended_at IS NULL";
    let Some(fire) = select(writing.sql, in_flight, params![id.job, id.at, id.is_manual])?.pop() else {
        return Ok(false);
    };
    let cut = |text: String| text.chars().take(MAX_TEXT_CHARS).collect::<String>();
    let (state, reason, result) = match end {
        FireEnd::Done(result) => (FireState::Done, None, result.map(cut)),
        FireEnd::Failed(reason) => (FireState::Failed, Some(cut(reason)), None),
        FireEnd::Refused(reason) => (FireState::Skipped, Some(cut(reason)), None),
        FireEnd::Late(reason) => (FireState::Late, Some(cut(reason)), None),
        FireEnd::Cancelled => (FireState::Cancelled, None, None),
        FireEnd::Interrupted => {
            let reason = "the gateway ended while the tool was at work; it is not repeated";
            (FireState::Interrupted, Some(reason.to_owned()), None)
        }
    };
    writing
        .sql
        .prepare_cached(
            "UPDATE fires SET state = ?4, reason = ?5, result = ?6, ended_at = ?7 WHERE job = ?1 AND at = ?2 AND is_manual = ?3",
        )?
        .execute(params![id.job, id.at, id.is_manual, state, reason, result, writing.now])?;
    let data = json!({ "job": id.job, "at": id.at, "state": state, "reason": reason });
    events::write(writing, fire.session.as_str(), "fire.ended", &data)?;
    let Some(job) = jobs::select(writing.sql, "id = ?1", params![id.job])?.pop() else { return Ok(true) };
    // The answer of a run goes out with the run.
    if fire.message.is_none()
        && let Some(target) = &job.reply_to
        && let Some(text) = result.as_ref().or(reason.as_ref())
    {
        let outcome = if state == FireState::Done { "answered" } else { "failed" };
        let body = json!({ "text": text, "outcome": outcome });
        let origin = Origin::fire(id.job.as_str(), id.at.0, id.is_manual);
        let deliveries = vec![NewDelivery::new(target.clone(), body)];
        outbox::prepare(writing, &origin, Some(fire.session.as_str()), deliveries)?;
    }
    count(writing, &job, state, reason.as_deref())?;
    let is_over = state == FireState::Done && !id.is_manual && matches!(job.schedule, Schedule::At { .. });
    if is_over && job.delete_after_run {
        jobs::remove(writing, &job)?;
    }
    Ok(true)
}

/// Counts failures in a row, and pauses the job if they are too many.
fn count(writing: &Writing<'_>, job: &Job, state: FireState, reason: Option<&str>) -> Result<(), Fault> {
    let failures = match state {
        FireState::Done => 0,
        FireState::Failed | FireState::Late | FireState::Interrupted => job.failures.saturating_add(1),
        FireState::Begun | FireState::Cancelled | FireState::Skipped => job.failures,
    };
    let sql = "UPDATE jobs SET failures = ?2 WHERE id = ?1";
    writing.sql.prepare_cached(sql)?.execute(params![job.id, failures])?;
    if job.is_enabled && job.max_failures > 0 && failures >= job.max_failures && failures > job.failures {
        let last = reason.unwrap_or("no reason is known");
        jobs::pause(writing, job, &format!("{failures} runs in a row did not end well; the last: {last}"))?;
    }
    Ok(())
}
