//! Jobs: work that is done on a schedule.

use std::fmt;
use std::time::Duration;

use rusqlite::types::{FromSql, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::clock::Moment;
use super::damage::Fault;
use super::overdue::{Missed, due};
use super::target::Target;
use super::writer::Writing;
use super::{Store, StoreError, events, sessions};
use crate::SessionKey;
use crate::moment::millis;
use crate::recurrence::Schedule;

/// The most jobs of one person.
const MAX_JOBS: u32 = 1_000;
/// The longest work, in bytes of its JSON.
const MAX_WORK_BYTES: usize = 64 << 10;
/// The longest jitter.
const MAX_JITTER: Duration = Duration::from_hours(1);
/// The longest time-out.
const MAX_TIMEOUT: Duration = Duration::from_hours(7 * 24);
/// The greatest limit of missed times that are run.
const MAX_MISSED: u32 = 1_000;

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

/// The work of a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum JobWork {
    /// A message to the agent.
    Prompt {
        /// Its text.
        prompt: String,
    },
    /// A call of a tool, without a model.
    Tool {
        /// The name of the tool.
        tool: String,
        /// The arguments.
        arguments: Value,
    },
}

/// A job to be added.
#[derive(Debug, Clone, PartialEq)]
pub struct NewJob {
    agent: String,
    schedule: Schedule,
    work: JobWork,
    session: Option<SessionKey>,
    person: Option<String>,
    origin: Option<String>,
    reply_to: Option<Target>,
    model: Option<String>,
    delete_after_run: bool,
    settings: Settings,
}

/// Settings that can be changed later.
#[derive(Debug, Clone, PartialEq)]
struct Settings {
    timeout: Option<Duration>,
    missed: Missed,
    missed_limit: u32,
    jitter: Duration,
    max_failures: u32,
    is_enabled: bool,
}

impl NewJob {
    /// A job of an agent, in a session of its own, that is enabled: missed times are made up for by one fire, without a time-out and a
    /// jitter, and it is paused after five failures in a row.
    pub fn new(agent: impl Into<String>, schedule: Schedule, work: JobWork) -> Self {
        let settings = Settings {
            timeout: None,
            missed: Missed::default(),
            missed_limit: 100,
            jitter: Duration::ZERO,
            max_failures: 5,
            is_enabled: true,
        };
        Self {
            agent: agent.into(),
            schedule,
            work,
            session: None,
            person: None,
            origin: None,
            reply_to: None,
            model: None,
            delete_after_run: false,
            settings,
        }
    }

    /// Runs it in a session, such as that in which it was asked for. It stays there.
    #[must_use]
    pub fn with_session(mut self, session: SessionKey) -> Self {
        session.agent().clone_into(&mut self.agent);
        self.session = Some(session);
        self
    }

    /// Names the person whose job it is.
    #[must_use]
    pub fn with_person(mut self, person: impl Into<String>) -> Self {
        self.person = Some(person.into());
        self
    }

    /// Names the call that asks for it: a second request of the same call returns the job of the first.
    #[must_use]
    pub fn with_origin(mut self, transcript: &str, answer: &str, call: &str) -> Self {
        // Each part keeps its length, so that no two triples share a text.
        self.origin = Some(format!("{}/{transcript}/{}/{answer}/{call}", transcript.len(), answer.len()));
        self
    }

    /// Says where answers go, and results of a tool.
    #[must_use]
    pub fn with_reply_to(mut self, target: Target) -> Self {
        self.reply_to = Some(target);
        self
    }

    /// Pins the model of the job, which then has a session of its own.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Removes it once it has run, if its schedule is a single time.
    #[must_use]
    pub fn with_delete_after_run(mut self, delete: bool) -> Self {
        self.delete_after_run = delete;
        self
    }

    /// Cancels a run that takes longer.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.settings.timeout = Some(timeout);
        self
    }

    /// Says what happens with missed times.
    #[must_use]
    pub fn with_missed(mut self, missed: Missed) -> Self {
        self.settings.missed = missed;
        self
    }

    /// Sets how many missed times are run where all are; 100 by default.
    #[must_use]
    pub fn with_missed_limit(mut self, limit: u32) -> Self {
        self.settings.missed_limit = limit;
        self
    }

    /// Delays each fire by a part of this time, the same at each look.
    #[must_use]
    pub fn with_jitter(mut self, jitter: Duration) -> Self {
        self.settings.jitter = jitter;
        self
    }

    /// Pauses it after so many failures in a row; never, if zero.
    #[must_use]
    pub fn with_max_failures(mut self, failures: u32) -> Self {
        self.settings.max_failures = failures;
        self
    }

    /// Adds it enabled or not.
    #[must_use]
    pub fn with_enabled(mut self, enabled: bool) -> Self {
        self.settings.is_enabled = enabled;
        self
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
    /// What happens with missed times.
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
    /// What it does.
    pub work: JobWork,
    /// Where answers go.
    pub reply_to: Option<Target>,
    /// The model that is pinned.
    pub model: Option<String>,
    /// The time-out.
    #[serde(rename = "timeoutMs", serialize_with = "as_millis_option")]
    pub timeout: Option<Duration>,
    /// What happens with missed times.
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
    check_model(new.model.as_deref(), &id, &session)?;
    check_work(&new.work)?;
    check_settings(&new.settings)?;
    let next = next_after(&new.schedule, writing.now)?;
    sessions::ensure(writing, &session, new.person.as_deref(), None)?;
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
    check_model(job.model.as_deref(), id, &job.session)?;
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

fn check_model(model: Option<&str>, id: &JobId, session: &SessionKey) -> Result<(), Fault> {
    let own = SessionKey::cron(session.agent(), id.as_str());
    if model.is_some() && own.ok().as_ref() != Some(session) {
        return Err(Fault::Refused(
            "a model is pinned only where the job has a session of its own; name no session, or no model"
                .to_owned(),
        ));
    }
    Ok(())
}

fn check_work(work: &JobWork) -> Result<(), Fault> {
    let length = serde_json::to_string(work)?.len();
    if length > MAX_WORK_BYTES {
        return Err(Fault::Refused(format!(
            "the work of a job has {length} bytes as JSON, and the limit is {MAX_WORK_BYTES}; put long content into a file"
        )));
    }
    let is_empty = match work {
        JobWork::Prompt { prompt } => prompt.trim().is_empty(),
        JobWork::Tool { tool, .. } => tool.is_empty(),
    };
    if is_empty {
        return Err(Fault::Refused("the job has nothing to do; give it a prompt, or a tool".to_owned()));
    }
    Ok(())
}

fn check_settings(settings: &Settings) -> Result<(), Fault> {
    let wrong = if settings.jitter > MAX_JITTER {
        "the jitter is longer than one hour; shorten it"
    } else if settings.timeout.is_some_and(|timeout| timeout > MAX_TIMEOUT || timeout.is_zero()) {
        "the time-out is out of range; it is longer than zero, and at most seven days"
    } else if !(1..=MAX_MISSED).contains(&settings.missed_limit) {
        "the limit of missed times is out of range; it is from 1 to 1000"
    } else {
        return Ok(());
    };
    Err(Fault::Refused(wrong.to_owned()))
}
