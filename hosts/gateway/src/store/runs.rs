//! Runs: each begins with one message of a session, and ends once.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde::Serialize;
use serde_json::json;

use super::clock::Moment;
use super::damage::Fault;
use super::handover::{self, Outcome, SENT};
use super::ids::{MessageId, RunId};
use super::inbox::{self, Message};
use super::named::named;
use super::origin::Origin;
use super::outbox::{self, NewDelivery};
use super::visible;
use super::writer::Writing;
use super::{Store, StoreError, asks, budgets, events, people, sessions};
use crate::{SessionKey, fail_points};

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RunState {
    /// It has a slot.
    Running,
    /// It waits for a person, another session or a slot, and has none.
    Waiting,
    /// It ended with an answer.
    Answered,
    /// It ended without one.
    Failed,
    /// It was cancelled.
    Cancelled,
}

named!(RunState {
    Running = "running",
    Waiting = "waiting",
    Answered = "answered",
    Failed = "failed",
    Cancelled = "cancelled"
});

/// How a run ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunEnd {
    /// With an answer.
    Answered,
    /// Without one, for this reason.
    Failed(String),
    /// As failed, since a budget did not allow it, or its next request. A job does not count it as a failure.
    Refused(String),
    /// It was cancelled.
    Cancelled,
}

/// A run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunRecord {
    /// Its id.
    pub id: RunId,
    /// Its session.
    pub session: SessionKey,
    /// The message that began it.
    pub message: MessageId,
    /// How far it is.
    pub state: RunState,
    /// How often it went on after a crash.
    pub resumptions: u32,
    /// Why it failed.
    pub reason: Option<String>,
    /// Its answer, where another session asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// When it began.
    pub started_at: Moment,
    /// When it ended.
    pub ended_at: Option<Moment>,
}

/// A run that has just begun.
#[derive(Debug, Clone, PartialEq)]
pub struct Claimed {
    /// Its id.
    pub run: RunId,
    /// The message that begins it.
    pub message: Message,
}

/// The outcome of steering a run with a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SteerOutcome {
    /// The run has taken it.
    Steered,
    /// It waits for a run of its own: another sender sent it, an earlier one waits, the run has ended, or a run has it already.
    Waits,
}

/// The outcome of resuming a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resumption {
    /// It goes on.
    Resumed {
        /// How often it has gone on after a crash, this time included; a planned stop does not count.
        count: u32,
    },
    /// It went on so often already: it has to end as failed.
    TooOften {
        /// How often.
        count: u32,
    },
    /// It was cancelled, and has to end so, unless its transcript has another end already.
    Cancelled,
    /// It is not in flight.
    Ended,
}

const COLUMNS: &str = "id, session, message, state, resumptions, reason, answer, started_at, ended_at";

fn of_row(row: &Row<'_>) -> rusqlite::Result<RunRecord> {
    Ok(RunRecord {
        id: row.get(0)?,
        session: row.get(1)?,
        message: row.get(2)?,
        state: row.get(3)?,
        resumptions: row.get(4)?,
        reason: row.get(5)?,
        answer: row.get(6)?,
        started_at: row.get(7)?,
        ended_at: row.get(8)?,
    })
}

/// Reads runs.
pub(super) fn select(
    connection: &Connection,
    condition: &str,
    values: &[&dyn ToSql],
) -> Result<Vec<RunRecord>, Fault> {
    let sql = format!("SELECT {COLUMNS} FROM runs WHERE {condition}");
    let mut statement = connection.prepare_cached(&sql)?;
    Ok(statement.query_map(values, of_row)?.collect::<Result<_, _>>()?)
}

fn found(connection: &Connection, run: &RunId) -> Result<Option<RunRecord>, Fault> {
    let sql = format!("SELECT {COLUMNS} FROM runs WHERE id = ?1");
    Ok(connection.prepare_cached(&sql)?.query_row([run], of_row).optional()?)
}

fn in_flight(writing: &Writing<'_>, run: &RunId) -> Result<RunRecord, Fault> {
    match found(writing.sql, run)? {
        Some(record) if record.ended_at.is_none() => Ok(record),
        Some(_) => Err(Fault::Refused(format!("the run {run} has ended"))),
        None => Err(Fault::Refused(format!("there is no run {run}"))),
    }
}

pub(super) fn running(writing: &Writing<'_>) -> Result<u32, Fault> {
    let sql = "SELECT count(*) FROM runs WHERE ended_at IS NULL AND state = 'running'";
    Ok(writing.sql.prepare_cached(sql)?.query_row([], |row| row.get(0))?)
}

fn set_state(writing: &Writing<'_>, run: &RunId, state: RunState) -> Result<(), Fault> {
    writing.sql.prepare_cached("UPDATE runs SET state = ?2 WHERE id = ?1")?.execute(params![run, state])?;
    Ok(())
}

impl Store {
    /// Gives a message that waits to the run of its session that is in flight, if the sender of that run's first message sent it, and no
    /// earlier message waits.
    pub async fn steer(&self, run: &RunId, message: MessageId) -> Result<SteerOutcome, StoreError> {
        let run = run.clone();
        self.write(move |writing| {
            let changed = writing
                .sql
                .prepare_cached(
                    "UPDATE inbox SET state = 'claimed', run = ?1, changed_at = ?3
                     WHERE id = ?2 AND state = 'queued' AND kind = 'message' AND unread IS NULL
                       AND session = (SELECT session FROM runs WHERE id = ?1 AND ended_at IS NULL)
                       AND sender IS (SELECT first.sender FROM runs JOIN inbox AS first ON first.id = runs.message WHERE runs.id = ?1)
                       AND NOT EXISTS (
                           SELECT 1 FROM inbox AS earlier
                           WHERE earlier.session = inbox.session AND earlier.state = 'queued' AND earlier.id < inbox.id
                               AND (earlier.held_until IS NULL OR earlier.held_until <= ?3)
                       )
                       AND job IS (SELECT run_jobs.job FROM run_jobs WHERE run_jobs.run = ?1)",
                )?
                .execute(params![run, message, writing.now])?;
            Ok(if changed == 1 { SteerOutcome::Steered } else { SteerOutcome::Waits })
        })
        .await
    }

    /// Lets messages wait again that were to steer a run, and did not reach it before the process ended. The one that began the run stays with it.
    pub async fn give_back(&self, run: &RunId, messages: Vec<MessageId>) -> Result<(), StoreError> {
        let run = run.clone();
        self.write(move |writing| {
            for id in messages {
                writing
                    .sql
                    .prepare_cached(
                        "UPDATE inbox SET state = CASE WHEN is_withdrawn THEN 'cancelled' ELSE 'queued' END, run = NULL, changed_at = ?3
                         WHERE id = ?1 AND run = ?2 AND state = 'claimed'
                           AND id <> (SELECT message FROM runs WHERE id = ?2)",
                    )?
                    .execute(params![id, run, writing.now])?;
            }
            Ok(())
        })
        .await
    }

    /// Notes that the transcript of a run holds these messages; done once their lines are synced. Again is no error.
    ///
    /// # Errors
    ///
    /// A message belongs to another run, or the run is not known.
    pub async fn consume(&self, run: &RunId, messages: Vec<MessageId>) -> Result<(), StoreError> {
        fail_points::pass("before_consume");
        let run = run.clone();
        self.write(move |writing| {
            let Some(record) = found(writing.sql, &run)? else {
                return Err(Fault::Refused(format!("there is no run {run}")));
            };
            for id in &messages {
                let changed = writing
                    .sql
                    .prepare_cached(
                        "UPDATE inbox SET state = 'consumed', changed_at = ?3
                         WHERE id = ?1 AND run = ?2 AND state IN ('claimed', 'consumed')",
                    )?
                    .execute(params![id, run, writing.now])?;
                if changed == 0 {
                    return Err(Fault::Refused(format!("the message {} is not of the run {run}", id.0)));
                }
            }
            let data = json!({ "run": run, "messages": messages });
            events::write(writing, record.session.as_str(), "message.consumed", &data)
        })
        .await
    }

    /// Ends a run, and prepares what it sends, in one transaction. Returns false, and changes nothing, if it has ended already.
    ///
    /// `consumed` are the messages that its transcript holds. The one that began it counts as consumed, whatever the end; one that was to steer
    /// it and did not reach its transcript waits again, unless it was taken back meanwhile or its person is blocked.
    ///
    /// # Errors
    ///
    /// There is no such run, or a delivery is too long.
    pub async fn finish(
        &self,
        run: &RunId,
        end: RunEnd,
        consumed: Vec<MessageId>,
        deliveries: Vec<NewDelivery>,
    ) -> Result<bool, StoreError> {
        self.finish_with(run, end, consumed, deliveries, None).await
    }

    /// Ends a run as [`finish`](Self::finish) does, and hands its answer to the session that asked: it is kept with the run for one that sent the
    /// message, and is a message of the session above for a sub-agent's, in the same transaction.
    pub async fn finish_with(
        &self,
        run: &RunId,
        end: RunEnd,
        consumed: Vec<MessageId>,
        deliveries: Vec<NewDelivery>,
        answer: Option<String>,
    ) -> Result<bool, StoreError> {
        fail_points::pass("after_end_before_commit");
        let run = run.clone();
        let finish =
            move |writing: &Writing<'_>| finish(writing, &run, end, &consumed, deliveries, answer.as_deref());
        let finished = self.write(finish).await?;
        fail_points::pass("after_finish");
        Ok(finished)
    }

    /// Takes the slot away from a run that waits, so that another can have it.
    pub async fn give_up_slot(&self, run: &RunId) -> Result<(), StoreError> {
        let run = run.clone();
        self.write(move |writing| {
            in_flight(writing, &run)?;
            set_state(writing, &run, RunState::Waiting)
        })
        .await
    }

    /// Gives a run that waited a slot. Returns false if `max_running` runs have one.
    pub async fn take_slot(&self, run: &RunId, max_running: u32) -> Result<bool, StoreError> {
        let run = run.clone();
        self.write(move |writing| {
            let is_free =
                in_flight(writing, &run)?.state == RunState::Running || running(writing)? < max_running;
            if is_free {
                set_state(writing, &run, RunState::Running)?;
            }
            Ok(is_free)
        })
        .await
    }

    /// Returns a run.
    pub async fn run(&self, run: &RunId) -> Result<Option<RunRecord>, StoreError> {
        let run = run.clone();
        self.read(move |connection| found(connection, &run)).await
    }

    /// Returns the run of a session that is in flight.
    pub async fn run_in_flight(&self, session: SessionKey) -> Result<Option<RunRecord>, StoreError> {
        self.read(move |connection| {
            let sql = format!("SELECT {COLUMNS} FROM runs WHERE session = ?1 AND ended_at IS NULL");
            Ok(connection.prepare_cached(&sql)?.query_row([session], of_row).optional()?)
        })
        .await
    }

    /// Returns the runs in flight. At start, those are the ones that an ended process has left.
    pub async fn runs_in_flight(&self) -> Result<Vec<RunRecord>, StoreError> {
        self.read(|connection| select(connection, "ended_at IS NULL ORDER BY started_at, id", &[])).await
    }

    /// Returns the messages that a run has taken, in order.
    pub async fn messages_of(&self, run: &RunId) -> Result<Vec<Message>, StoreError> {
        let run = run.clone();
        self.read(move |connection| inbox::select(connection, "run = ?1 ORDER BY id", params![run])).await
    }

    /// Takes the slots away from all runs in flight; done at start, when those that go on take them one after the other.
    pub async fn give_up_all_slots(&self) -> Result<(), StoreError> {
        self.write(|writing| {
            writing.sql.execute("UPDATE runs SET state = 'waiting' WHERE ended_at IS NULL", [])?;
            Ok(())
        })
        .await
    }

    /// Notes that a run which the end of a process has interrupted goes on, unless it did so `max_resumptions` times after crashes. One of a
    /// blocked person, or begun by one, ends as cancelled.
    pub async fn resume(&self, run: &RunId, max_resumptions: u32) -> Result<Resumption, StoreError> {
        let run = run.clone();
        self.write(move |writing| {
            let record = match found(writing.sql, &run)? {
                Some(record) if record.ended_at.is_none() => record,
                _ => return Ok(Resumption::Ended),
            };
            let sql = "SELECT cancelled_at IS NOT NULL FROM runs WHERE id = ?1";
            let is_cancelled: bool = writing.sql.prepare_cached(sql)?.query_row([&run], |row| row.get(0))?;
            if visible::is_blocked(writing.sql, &record.session)?
                || people::has_blocked_sender(writing.sql, record.message)?
            {
                finish(writing, &run, RunEnd::Cancelled, &[], Vec::new(), None)?;
                return Ok(Resumption::Ended);
            }
            if is_cancelled {
                return Ok(Resumption::Cancelled);
            }
            let sql = "SELECT is_planned FROM runs WHERE id = ?1";
            let is_planned: bool = writing.sql.prepare_cached(sql)?.query_row([&run], |row| row.get(0))?;
            let count = record.resumptions + u32::from(!is_planned);
            if count > max_resumptions {
                return Ok(Resumption::TooOften { count: record.resumptions });
            }
            writing
                .sql
                .prepare_cached("UPDATE runs SET is_planned = 0, resumptions = ?2 WHERE id = ?1")?
                .execute(params![run, count])?;
            let data = json!({ "run": run, "count": count });
            events::write(writing, record.session.as_str(), "run.resumed", &data)?;
            Ok(Resumption::Resumed { count })
        })
        .await
    }

    /// Notes that the runs in flight are interrupted by a stop that was asked for: their next resumption does not count.
    pub async fn plan_stop(&self) -> Result<(), StoreError> {
        self.write(|writing| {
            writing.sql.execute("UPDATE runs SET is_planned = 1 WHERE ended_at IS NULL", [])?;
            Ok(())
        })
        .await
    }
}

pub(super) fn finish(
    writing: &Writing<'_>,
    run: &RunId,
    end: RunEnd,
    consumed: &[MessageId],
    deliveries: Vec<NewDelivery>,
    answer: Option<&str>,
) -> Result<bool, Fault> {
    let Some(record) = found(writing.sql, run)? else {
        return Err(Fault::Refused(format!("there is no run {run}")));
    };
    if record.ended_at.is_some() {
        return Ok(false);
    }
    let is_refused = matches!(end, RunEnd::Refused(_));
    let (state, reason) = match end {
        RunEnd::Answered => (RunState::Answered, None),
        RunEnd::Failed(reason) | RunEnd::Refused(reason) => (RunState::Failed, Some(reason)),
        RunEnd::Cancelled => (RunState::Cancelled, None),
    };
    writing
        .sql
        .prepare_cached(
            "UPDATE runs SET state = ?2, reason = ?3, is_refused = ?5, ended_at = ?4 WHERE id = ?1",
        )?
        .execute(params![run, state, reason, writing.now, is_refused])?;
    for id in consumed {
        writing
            .sql
            .prepare_cached(
                "UPDATE inbox SET state = 'consumed', changed_at = ?3 WHERE id = ?1 AND run = ?2 AND state = 'claimed'",
            )?
            .execute(params![id, run, writing.now])?;
    }
    writing
        .sql
        .prepare_cached(
            "UPDATE inbox SET state = CASE WHEN id = ?2 THEN 'consumed' WHEN ?4 OR is_withdrawn THEN 'cancelled' ELSE 'queued' END,
                 run = CASE WHEN id = ?2 THEN run ELSE NULL END, changed_at = ?3
             WHERE run = ?1 AND state = 'claimed'",
        )?
        .execute(params![run, record.message, writing.now, visible::is_blocked(writing.sql, &record.session)?])?;
    if state != RunState::Answered {
        // Nobody answers for a call whose run is over. If the transcript has it still, it asks anew.
        asks::remove_of_session(writing, &record.session)?;
    }
    sessions::touch(writing, record.session.as_str())?;
    if state == RunState::Answered {
        sessions::count_message(writing, &record.session)?;
    }
    hand_over(writing, &record, state, answer.or(reason.as_deref()).unwrap_or_default())?;
    let origin = Origin::run(run);
    outbox::prepare(writing, &origin, Some(record.session.as_str()), deliveries)?;
    let data = json!({ "run": run, "state": state, "reason": reason });
    events::write(writing, record.session.as_str(), "run.ended", &data)?;
    Ok(true)
}

/// Hands the end of a run to the session that asked.
fn hand_over(writing: &Writing<'_>, run: &RunRecord, state: RunState, text: &str) -> Result<(), Fault> {
    let asked = "run = ?1 AND source = ?2 LIMIT 1";
    if state == RunState::Answered && !inbox::select(writing.sql, asked, params![run.id, SENT])?.is_empty() {
        let sql = "UPDATE runs SET answer = ?2 WHERE id = ?1";
        writing.sql.prepare_cached(sql)?.execute(params![run.id, handover::cut(text)])?;
    }
    let sql = "SELECT is_quiet FROM runs WHERE id = ?1";
    if writing.sql.prepare_cached(sql)?.query_row([&run.id], |row| row.get(0))? {
        return Ok(());
    }
    let Some(message) = inbox::select(writing.sql, "id = ?1", params![run.message])?.pop() else {
        return Ok(());
    };
    let outcome = match state {
        RunState::Answered => Outcome::Answered(text),
        RunState::Cancelled => Outcome::Cancelled,
        _ => Outcome::Failed(text),
    };
    let job = budgets::job_of_run(writing.sql, &run.id)?;
    handover::report(writing, &message, run.id.as_str(), job, outcome)
}
