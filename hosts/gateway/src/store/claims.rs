//! The claim of a fire: beginning it, advancing its job, and storing the message that begins its run are one transaction.

use rusqlite::params;
use serde_json::json;

use super::clock::Moment;
use super::damage::Fault;
use super::fires::{self, Fire};
use super::inbox::{self, Acceptance, MessageKind, NewMessage};
use super::jobs::{self, Job, JobId};
use super::new_job::JobWork;
use super::overdue::{Overdue, due};
use super::writer::Writing;
use super::{Store, StoreError, events};
use crate::fail_points;
use crate::recurrence::Zone;

/// The source of the messages of jobs.
const SOURCE: &str = "cron";
/// Fires of one job that are kept.
const KEPT: u32 = 200;
/// Jobs that one command advances.
const MAX_ADVANCED: u32 = 200;

/// A fire that has just been claimed, with its job.
#[derive(Debug, Clone, PartialEq)]
pub struct ClaimedFire {
    /// The fire.
    pub fire: Fire,
    /// The job.
    pub job: Job,
}

/// A job that is due, and has no fire in flight.
const DUE: &str = "is_enabled = 1 AND due_at <= ?1 AND NOT EXISTS (
        SELECT 1 FROM fires WHERE fires.job = jobs.id AND fires.ended_at IS NULL)";

impl Store {
    /// Begins the next fire that is due, or was asked for: advances its job, and stores the message that begins its run. `None` if no job
    /// without a fire in flight is due.
    ///
    /// A time that comes while the last fire of its job is in flight waits for its end, and is then one of the missed ones, for which the
    /// job has a policy.
    pub async fn claim_fire(&self) -> Result<Option<ClaimedFire>, StoreError> {
        let claimed = self
            .write(|writing| {
                follow_clock(writing)?;
                if let Some(claimed) = claim_requested(writing)? {
                    return Ok(Some(claimed));
                }
                for _ in 0..MAX_ADVANCED {
                    let sql = format!("{DUE} ORDER BY due_at, id LIMIT 1");
                    let Some(job) = jobs::select(writing.sql, &sql, params![writing.now])?.pop() else {
                        break;
                    };
                    if let Some(claimed) = claim(writing, job)? {
                        return Ok(Some(claimed));
                    }
                }
                Ok(None)
            })
            .await?;
        if claimed.is_some() {
            fail_points::pass("after_fire_claim");
        }
        Ok(claimed)
    }

    /// Returns the time at which a fire is due next, or its time-out has passed; `None` if there is none.
    pub async fn next_due(&self) -> Result<Option<Moment>, StoreError> {
        self.read(|connection| {
            let sql = "SELECT min(at) FROM (
                    SELECT min(due_at) AS at FROM jobs WHERE is_enabled = 1 AND due_at IS NOT NULL AND NOT EXISTS (
                        SELECT 1 FROM fires WHERE fires.job = jobs.id AND fires.ended_at IS NULL)
                    UNION ALL
                    SELECT min(requested_at) FROM jobs WHERE requested_at IS NOT NULL AND NOT EXISTS (
                        SELECT 1 FROM fires WHERE fires.job = jobs.id AND fires.ended_at IS NULL)
                    UNION ALL
                    SELECT min(runs.started_at + jobs.timeout) FROM fires JOIN jobs ON jobs.id = fires.job
                        JOIN inbox ON inbox.id = fires.message JOIN runs ON runs.id = inbox.run
                        WHERE fires.ended_at IS NULL AND fires.reason IS NULL AND runs.ended_at IS NULL)";
            Ok(connection.prepare_cached(sql)?.query_row([], |row| row.get(0))?)
        })
        .await
    }
}

/// Works the next time out anew for jobs whose next time was worked out at a later time of the clock: it was set back.
fn follow_clock(writing: &Writing<'_>) -> Result<(), Fault> {
    for job in jobs::select(writing.sql, "advanced_at > ?1 LIMIT ?2", params![writing.now, MAX_ADVANCED])? {
        // Nothing is run twice: the next one is later than those that were run.
        let last = job.last_at.unwrap_or(writing.now).max(writing.now);
        let next = match (job.next_at, job.schedule.next_after(last)) {
            (Some(before), Some(next)) => Some(before.min(next)),
            // One that had no further time has none now, unless it was missed by a clock that was ahead.
            (before, next) => before.or(next),
        };
        advance(writing, &job, next, job.last_at)?;
    }
    Ok(())
}

fn advance(
    writing: &Writing<'_>,
    job: &Job,
    next: Option<Moment>,
    last: Option<Moment>,
) -> Result<(), Fault> {
    writing
        .sql
        .prepare_cached(
            "UPDATE jobs SET next_at = ?2, due_at = ?3, last_at = ?4, advanced_at = ?5 WHERE id = ?1",
        )?
        .execute(params![
            job.id,
            next,
            next.map(|next| due(job.id.as_str(), next, job.jitter)),
            last,
            writing.now
        ])?;
    Ok(())
}

fn claim_requested(writing: &Writing<'_>) -> Result<Option<ClaimedFire>, Fault> {
    let requested = "requested_at IS NOT NULL AND NOT EXISTS (
            SELECT 1 FROM fires WHERE fires.job = jobs.id AND fires.ended_at IS NULL) ORDER BY requested_at, id LIMIT 1";
    let Some(job) = jobs::select(writing.sql, requested, &[])?.pop() else { return Ok(None) };
    let at: Moment = writing
        .sql
        .prepare_cached(
            // The clock may stand, or may have been set back.
            "SELECT max(requested_at, coalesce(1 + (SELECT max(at) FROM fires WHERE job = ?1 AND is_manual = 1), 0)) FROM jobs WHERE id = ?1",
        )?
        .query_row([&job.id], |row| row.get(0))?;
    writing.sql.prepare_cached("UPDATE jobs SET requested_at = NULL WHERE id = ?1")?.execute([&job.id])?;
    begin(writing, job, at, true, 0)
}

/// Carries out the policy of a job that is due. `None` if nothing of it is run.
fn claim(writing: &Writing<'_>, job: Job) -> Result<Option<ClaimedFire>, Fault> {
    let Some(next) = job.next_at else { return Ok(None) };
    let overdue = Overdue {
        job: job.id.as_str(),
        schedule: &job.schedule,
        next,
        jitter: job.jitter,
        policy: job.missed,
        limit: job.missed_limit,
    };
    let plan = overdue.plan(writing.now);
    if let Some((first, count)) = plan.skipped {
        skip(writing, &job, first, count)?;
    }
    let last = plan.fire.into_iter().chain(job.last_at).max();
    advance(writing, &job, plan.next, last)?;
    match plan.fire {
        Some(at) => begin(writing, job, at, false, plan.stands_for),
        None => Ok(None),
    }
}

fn skip(writing: &Writing<'_>, job: &Job, at: Moment, count: u32) -> Result<(), Fault> {
    let reason = "the gateway did not run at its time, or the fire before was in flight";
    let made = writing
        .sql
        .prepare_cached(
            "INSERT INTO fires (job, at, is_manual, person, session, state, missed, reason, begun_at, ended_at)
             VALUES (?1, ?2, 0, ?3, ?4, 'skipped', ?5, ?6, ?7, ?7) ON CONFLICT DO NOTHING",
        )?
        .execute(params![job.id, at, job.person, job.session, count, reason, writing.now])?;
    if made > 0 {
        let data = json!({ "job": job.id, "at": at, "count": count });
        events::write(writing, job.session.as_str(), "fire.skipped", &data)?;
    }
    prune(writing, &job.id)
}

/// Begins a fire, with its message. `None` if this fire was run before.
fn begin(
    writing: &Writing<'_>,
    mut job: Job,
    at: Moment,
    is_manual: bool,
    missed: u32,
) -> Result<Option<ClaimedFire>, Fault> {
    let message = match &job.work {
        JobWork::Tool { .. } => None,
        JobWork::Prompt { prompt } => {
            let time = Zone::utc().show(at);
            let body =
                json!({ "text": prompt, "job": job.id, "time": time, "missed": missed, "model": job.model });
            let manual = if is_manual { "/manual" } else { "" };
            let id = format!("{}/{}{manual}", job.id, at.0);
            let mut message =
                NewMessage::new(SOURCE, id, job.session.clone(), body).with_kind(MessageKind::Fire);
            message = message.with_job(Some(job.id.to_string()));
            if let Some(person) = &job.person {
                message = message.with_person(person);
            }
            if let Some(target) = &job.reply_to {
                message = message.with_reply_to(target.clone());
            }
            match inbox::accept(writing, &message, u32::MAX)? {
                Acceptance::Accepted { id } => Some(id),
                Acceptance::Again { .. } | Acceptance::QueueFull { .. } => return Ok(None),
            }
        }
    };
    // Where the clock was set back, one that was skipped can be run at its time.
    let made = writing
        .sql
        .prepare_cached(
            "INSERT INTO fires (job, at, is_manual, person, session, state, message, missed, begun_at)
             VALUES (?1, ?2, ?3, ?4, ?5, 'begun', ?6, ?7, ?8)
             ON CONFLICT (job, at, is_manual) DO UPDATE
                 SET state = 'begun', message = ?6, missed = ?7, reason = NULL, begun_at = ?8, ended_at = NULL WHERE state = 'skipped'",
        )?
        .execute(params![job.id, at, is_manual, job.person, job.session, message, missed, writing.now])?;
    if made == 0 {
        return Ok(None);
    }
    prune(writing, &job.id)?;
    let data = json!({ "job": job.id, "at": at, "message": message, "missed": missed });
    events::write(writing, job.session.as_str(), "fire.begun", &data)?;
    job.in_flight = Some(at);
    let this = "job = ?1 AND at = ?2 AND is_manual = ?3";
    let fire = fires::select(writing.sql, this, params![job.id, at, is_manual])?.pop();
    Ok(fire.map(|fire| ClaimedFire { fire, job }))
}

/// Removes the oldest fires of a job that are too many.
fn prune(writing: &Writing<'_>, job: &JobId) -> Result<(), Fault> {
    writing
        .sql
        .prepare_cached(
            "DELETE FROM fires WHERE job = ?1 AND ended_at IS NOT NULL AND at < (
                 SELECT at FROM fires WHERE job = ?1 ORDER BY at DESC LIMIT 1 OFFSET ?2)",
        )?
        .execute(params![job, KEPT - 1])?;
    Ok(())
}
