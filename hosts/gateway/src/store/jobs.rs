//! Jobs: work that is done on a schedule.

use std::fmt;
use std::time::Duration;

use rusqlite::types::{FromSql, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::clock::Moment;
use super::damage::Fault;
use super::new_job::{JobWork, NewJob, Settings, check_model, check_settings, check_work};
use super::overdue::{Missed, due};
use super::target::Target;
use super::writer::Writing;
use super::{Store, StoreError, events, sessions};
use crate::SessionKey;
use crate::moment::millis;
use crate::recurrence::Schedule;

/// The most jobs of one person.
const MAX_JOBS: u32 = 1_000;
/// The id of a job.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JobId(String);

impl JobId {
    /// An id as it was written elsewhere.
    pub fn new(id: impl Into<String>) -> Self {
        Self(id.into())
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn random() -> Result<Self, Fault> {
        let mut bytes = [0; 6];
        getrandom::fill(&mut bytes).map_err(|error| Fault::Refused(format!("no random bytes: {error}")))?;
        Ok(Self(data_encoding::HEXLOWER.encode(&bytes)))
    }
}

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl ToSql for JobId {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        self.0.to_sql()
    }
}

impl FromSql for JobId {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        String::column_result(value).map(Self)
    }
}

/// A change of a job: its session and its person stay.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct JobChange {
    /// The schedule; counted from now.
    pub schedule: Option<Schedule>,
    /// The work.
    pub work: Option<JobWork>,
    /// The pinned model, or none.
    pub model: Option<Option<String>>,
    /// The time-out, or none.
    pub timeout: Option<Option<Duration>>,
    /// The policy for missed times.
    pub missed: Option<Missed>,
    /// How many missed times are run where all are.
    pub missed_limit: Option<u32>,
    /// The jitter.
    pub jitter: Option<Duration>,
    /// The failures in a row after which it is paused.
    pub max_failures: Option<u32>,
    /// Enables it, counted from now and without its failures, or pauses it.
    pub enabled: Option<bool>,
}

/// A job.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    /// Its id.
    pub id: JobId,
    /// Whose it is.
    pub person: Option<String>,
    /// The session in which it runs.
    pub session: SessionKey,
    /// When it is due.
    pub schedule: Schedule,
    /// Its work.
    pub work: JobWork,
    /// Where answers go.
    pub reply_to: Option<Target>,
    /// The model that is pinned.
    pub model: Option<String>,
    /// The time-out.
    #[serde(rename = "timeoutMs", serialize_with = "as_millis_option")]
    pub timeout: Option<Duration>,
    /// The policy for missed times.
    pub missed: Missed,
    /// How many missed times are run where all are.
    pub missed_limit: u32,
    /// The jitter.
    #[serde(rename = "jitterMs", serialize_with = "as_millis")]
    pub jitter: Duration,
    /// The failures in a row after which it is paused.
    pub max_failures: u32,
    /// True if it is removed once it has run, where its schedule is a single time.
    pub delete_after_run: bool,
    /// False while it is paused.
    pub is_enabled: bool,
    /// Why it is paused.
    pub paused: Option<String>,
    /// Failures in a row.
    pub failures: u32,
    /// The next time of its schedule.
    pub next_at: Option<Moment>,
    /// The latest time of its schedule that was run.
    pub last_at: Option<Moment>,
    /// True if a run beside the schedule waits.
    pub is_requested: bool,
    /// The time of its fire in flight.
    pub in_flight: Option<Moment>,
    /// When it was added.
    pub created_at: Moment,
}

fn as_millis<S: serde::Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_i64(millis(*duration))
}

#[expect(clippy::ref_option, reason = "the form that serde calls")]
fn as_millis_option<S: serde::Serializer>(
    duration: &Option<Duration>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    duration.map(millis).serialize(serializer)
}

/// Which jobs to list.
#[derive(Debug, Clone, Default)]
pub struct JobFilter {
    /// Of this person alone.
    pub person: Option<String>,
    /// Of this agent alone.
    pub agent: Option<String>,
    /// In this session alone.
    pub session: Option<SessionKey>,
}

const COLUMNS: &str = "id, person, session, schedule, work, reply_to, model, timeout, missed, missed_limit, jitter, max_failures,
    delete_after_run, is_enabled, paused, failures, next_at, last_at, requested_at IS NOT NULL,
    (SELECT at FROM fires WHERE fires.job = jobs.id AND fires.ended_at IS NULL), created_at";

fn of_row(row: &Row<'_>) -> Result<Job, Fault> {
    let reply_to: Option<String> = row.get(5)?;
    let duration = |millis: i64| Duration::from_millis(u64::try_from(millis).unwrap_or(0));
    Ok(Job {
        id: row.get(0)?,
        person: row.get(1)?,
        session: row.get(2)?,
        schedule: serde_json::from_str(&row.get::<_, String>(3)?)?,
        work: serde_json::from_str(&row.get::<_, String>(4)?)?,
        reply_to: reply_to.map(|target| serde_json::from_str(&target)).transpose()?,
        model: row.get(6)?,
        timeout: row.get::<_, Option<i64>>(7)?.map(duration),
        missed: row.get(8)?,
        missed_limit: row.get(9)?,
        jitter: duration(row.get(10)?),
        max_failures: row.get(11)?,
        delete_after_run: row.get(12)?,
        is_enabled: row.get(13)?,
        paused: row.get(14)?,
        failures: row.get(15)?,
        next_at: row.get(16)?,
        last_at: row.get(17)?,
        is_requested: row.get(18)?,
        in_flight: row.get(19)?,
        created_at: row.get(20)?,
    })
}

/// Reads jobs.
pub(super) fn select(
    connection: &Connection,
    condition: &str,
    values: &[&dyn ToSql],
) -> Result<Vec<Job>, Fault> {
    let mut statement =
        connection.prepare_cached(&format!("SELECT {COLUMNS} FROM jobs WHERE {condition}"))?;
    let mut rows = statement.query(values)?;
    let mut jobs = Vec::new();
    while let Some(row) = rows.next()? {
        jobs.push(of_row(row)?);
    }
    Ok(jobs)
}

/// Finds a job, if it is of this person, where one is named.
fn found(connection: &Connection, id: &JobId, person: Option<&str>) -> Result<Option<Job>, Fault> {
    let condition = "id = ?1 AND (?2 IS NULL OR person = ?2)";
    Ok(select(connection, condition, params![id, person])?.pop())
}

fn no_job(id: &JobId) -> Fault {
    let shown: String = id.as_str().chars().take(60).collect();
    Fault::Refused(format!(
        "there is no job `{shown}`; the list of jobs (`cron list`) names those that are there"
    ))
}

impl Store {
    /// Adds a job, and makes its session if there is none. The same origin a second time returns the job that was added first.
    ///
    /// # Errors
    ///
    /// The session belongs to another person; the schedule has no further time; a model is pinned in a session that is not the job's own;
    /// a limit is exceeded.
    pub async fn add_job(&self, job: NewJob) -> Result<Job, StoreError> {
        self.write(move |writing| add(writing, &job)).await
    }

    /// Returns the job that a call added.
    pub async fn job_of_origin(&self, origin: &str) -> Result<Option<Job>, StoreError> {
        let origin = origin.to_owned();
        self.read(move |connection| Ok(select(connection, "origin = ?1", params![origin])?.pop())).await
    }

    /// Changes a job of a person; of whomever, if none is named.
    ///
    /// # Errors
    ///
    /// There is no such job of the person; the schedule has no further time; a limit is exceeded.
    pub async fn update_job(
        &self,
        id: &JobId,
        person: Option<String>,
        change: JobChange,
    ) -> Result<Job, StoreError> {
        let id = id.clone();
        self.write(move |writing| update(writing, &id, person.as_deref(), change)).await
    }

    /// Removes a job of a person; of whomever, if none is named. A fire in flight goes on. Returns false if there is no such job.
    pub async fn remove_job(&self, id: &JobId, person: Option<String>) -> Result<bool, StoreError> {
        let id = id.clone();
        self.write(move |writing| {
            let Some(job) = found(writing.sql, &id, person.as_deref())? else { return Ok(false) };
            remove(writing, &job)?;
            Ok(true)
        })
        .await
    }

    /// Asks for a run of a job beside its schedule, also of one that is paused. It begins once no fire of the job is in flight; a second
    /// request before that is the same one.
    ///
    /// # Errors
    ///
    /// There is no such job of the person.
    pub async fn request_fire(&self, id: &JobId, person: Option<String>) -> Result<(), StoreError> {
        let id = id.clone();
        self.write(move |writing| {
            let job = found(writing.sql, &id, person.as_deref())?.ok_or_else(|| no_job(&id))?;
            let sql = "UPDATE jobs SET requested_at = coalesce(requested_at, ?2) WHERE id = ?1";
            writing.sql.prepare_cached(sql)?.execute(params![id, writing.now])?;
            events::write(writing, job.session.as_str(), "job.requested", &json!({ "job": id }))
        })
        .await
    }

    /// Pauses every job of a person, and returns how many were enabled.
    pub async fn pause_jobs_of(&self, person: String, reason: String) -> Result<usize, StoreError> {
        self.write(move |writing| {
            let jobs = select(writing.sql, "person = ?1 AND is_enabled = 1", params![person])?;
            for job in &jobs {
                pause(writing, job, &reason)?;
            }
            writing
                .sql
                .prepare_cached("UPDATE jobs SET requested_at = NULL WHERE person = ?1")?
                .execute([&person])?;
            Ok(jobs.len())
        })
        .await
    }

    /// Returns a job of a person; of whomever, if none is named.
    pub async fn job(&self, id: &JobId, person: Option<String>) -> Result<Option<Job>, StoreError> {
        let id = id.clone();
        self.read(move |connection| found(connection, &id, person.as_deref())).await
    }

    /// Lists jobs, in the order in which they were added.
    pub async fn jobs(&self, filter: JobFilter) -> Result<Vec<Job>, StoreError> {
        self.read(move |connection| {
            let condition = "(?1 IS NULL OR person = ?1) AND (?2 IS NULL OR session = ?2)
                AND (?3 IS NULL OR EXISTS (SELECT 1 FROM sessions WHERE sessions.key = jobs.session AND sessions.agent = ?3))
                ORDER BY created_at, id";
            select(connection, condition, params![filter.person, filter.session, filter.agent])
        })
        .await
    }
}

fn add(writing: &Writing<'_>, new: &NewJob) -> Result<Job, Fault> {
    if let Some(origin) = &new.origin
        && let Some(before) = select(writing.sql, "origin = ?1", params![origin])?.pop()
    {
        return Ok(before);
    }
    let of_person = "SELECT count(*) FROM jobs WHERE person IS ?1";
    let count: u32 = writing.sql.prepare_cached(of_person)?.query_row([&new.person], |row| row.get(0))?;
    if count >= MAX_JOBS {
        return Err(Fault::Refused(format!("{count} jobs are the most that a person has; remove one first")));
    }
    let id = JobId::random()?;
    let session = match &new.session {
        Some(session) => session.clone(),
        None => {
            SessionKey::cron(&new.agent, id.as_str()).map_err(|error| Fault::Refused(error.to_string()))?
        }
    };
    check_model(new.model.as_deref(), id.as_str(), &session)?;
    check_work(&new.work)?;
    check_settings(&new.settings)?;
    let next = next_after(&new.schedule, writing.now)?;
    // A session that is there stays where it is.
    let maker = new.maker.as_ref().filter(|_| new.session.is_none());
    sessions::ensure(writing, &session, new.person.as_deref(), maker.map(|(session, _)| session))?;
    if let Some((_, delegates)) = maker {
        let sql = "UPDATE sessions SET begun_by = ?2 WHERE key = ?1";
        writing.sql.prepare_cached(sql)?.execute(params![session, serde_json::to_string(delegates)?])?;
    }
    let owner: Option<String> = writing
        .sql
        .prepare_cached("SELECT person FROM sessions WHERE key = ?1")?
        .query_row([&session], |row| row.get(0))
        .optional()?
        .flatten();
    if owner.is_some() && owner != new.person {
        return Err(Fault::Refused(format!(
            "the session `{session}` belongs to another person; name one of your own, or none"
        )));
    }
    let settings = &new.settings;
    writing
        .sql
        .prepare_cached(
            "INSERT INTO jobs (id, origin, person, session, schedule, work, reply_to, model, timeout, missed, missed_limit, jitter,
                 max_failures, delete_after_run, is_enabled, next_at, due_at, advanced_at, created_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?18)",
        )?
        .execute(params![
            id,
            new.origin,
            new.person,
            session,
            serde_json::to_string(&new.schedule)?,
            serde_json::to_string(&new.work)?,
            new.reply_to.as_ref().map(serde_json::to_string).transpose()?,
            new.model,
            settings.timeout.map(millis),
            settings.missed,
            settings.missed_limit,
            millis(settings.jitter),
            settings.max_failures,
            new.delete_after_run,
            settings.is_enabled,
            next,
            due(id.as_str(), next, settings.jitter),
            writing.now
        ])?;
    events::write(writing, session.as_str(), "job.added", &json!({ "job": id, "next": next }))?;
    found(writing.sql, &id, None)?.ok_or_else(|| no_job(&id))
}

fn update(writing: &Writing<'_>, id: &JobId, person: Option<&str>, change: JobChange) -> Result<Job, Fault> {
    let mut job = found(writing.sql, id, person)?.ok_or_else(|| no_job(id))?;
    let is_counted_anew = change.schedule.is_some() || change.enabled == Some(true) && !job.is_enabled;
    job.schedule = change.schedule.unwrap_or(job.schedule);
    job.work = change.work.unwrap_or(job.work);
    job.model = change.model.unwrap_or(job.model);
    let settings = Settings {
        timeout: change.timeout.unwrap_or(job.timeout),
        missed: change.missed.unwrap_or(job.missed),
        missed_limit: change.missed_limit.unwrap_or(job.missed_limit),
        jitter: change.jitter.unwrap_or(job.jitter),
        max_failures: change.max_failures.unwrap_or(job.max_failures),
        is_enabled: change.enabled.unwrap_or(job.is_enabled),
    };
    check_model(job.model.as_deref(), id.as_str(), &job.session)?;
    check_work(&job.work)?;
    check_settings(&settings)?;
    if change.enabled == Some(true) {
        (job.paused, job.failures) = (None, 0);
    }
    if is_counted_anew {
        job.next_at = Some(next_after(&job.schedule, writing.now)?);
    }
    writing
        .sql
        .prepare_cached(
            "UPDATE jobs SET schedule = ?2, work = ?3, model = ?4, timeout = ?5, missed = ?6, missed_limit = ?7, jitter = ?8,
                 max_failures = ?9, is_enabled = ?10, paused = ?11, failures = ?12, next_at = ?13, due_at = ?14,
                 advanced_at = CASE WHEN ?16 THEN ?15 ELSE advanced_at END
             WHERE id = ?1",
        )?
        .execute(params![
            id,
            serde_json::to_string(&job.schedule)?,
            serde_json::to_string(&job.work)?,
            job.model,
            settings.timeout.map(millis),
            settings.missed,
            settings.missed_limit,
            millis(settings.jitter),
            settings.max_failures,
            settings.is_enabled,
            job.paused,
            job.failures,
            job.next_at,
            job.next_at.map(|next| due(id.as_str(), next, settings.jitter)),
            writing.now,
            is_counted_anew
        ])?;
    events::write(writing, job.session.as_str(), "job.changed", &json!({ "job": id, "next": job.next_at }))?;
    found(writing.sql, id, None)?.ok_or_else(|| no_job(id))
}

/// Removes a job as part of a command.
pub(super) fn remove(writing: &Writing<'_>, job: &Job) -> Result<(), Fault> {
    writing.sql.prepare_cached("DELETE FROM jobs WHERE id = ?1")?.execute([&job.id])?;
    events::write(writing, job.session.as_str(), "job.removed", &json!({ "job": job.id }))
}

/// Pauses a job as part of a command.
pub(super) fn pause(writing: &Writing<'_>, job: &Job, reason: &str) -> Result<(), Fault> {
    let sql = "UPDATE jobs SET is_enabled = 0, paused = ?2 WHERE id = ?1";
    writing.sql.prepare_cached(sql)?.execute(params![job.id, reason])?;
    let data = json!({ "job": job.id, "reason": reason });
    events::write(writing, job.session.as_str(), "job.paused", &data)
}

fn next_after(schedule: &Schedule, now: Moment) -> Result<Moment, Fault> {
    schedule.next_after(now).ok_or_else(|| {
        Fault::Refused(match schedule {
            Schedule::At { .. } => "the time of the job has passed; name one that is to come".to_owned(),
            _ => "the schedule names no time that is to come; change it".to_owned(),
        })
    })
}
