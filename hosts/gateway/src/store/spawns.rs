//! Sessions of sub-agents: begun with their first message, and cancelled with the run of the session above.

use std::collections::BTreeSet;
use std::time::Duration;

use rusqlite::{OptionalExtension as _, params};
use serde_json::json;

use super::damage::Fault;
use super::handover::{self, SPAWNED};
use super::ids::{RunId, digest};
use super::inbox::{self, Acceptance, NewMessage};
use super::runs::{self, RunRecord};
use super::writer::Writing;
use super::{Store, StoreError, Target, budgets, sessions, visible, withdrawal};
use crate::moment::millis;
use crate::{SessionKey, fail_points};

/// A session of a sub-agent that is to begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSpawn {
    /// The session that begins it.
    pub parent: SessionKey,
    /// The agents to which a run of that session delegated, the last of which begins it, the nearest first.
    pub delegates: Vec<String>,
    /// Names the call that begins it, and no other: the same a second time is the same session.
    pub origin: String,
    /// Its agent.
    pub agent: String,
    /// The person with whose rights it acts.
    pub person: Option<String>,
    /// Its first message.
    pub prompt: String,
    /// Its label.
    pub label: Option<String>,
    /// Its model.
    pub model: Option<String>,
    /// How much that reasons.
    pub thinking: Option<String>,
    /// The time after which a run is cancelled.
    pub run_timeout: Option<Duration>,
    /// Where the answer goes that the parent gives to its result.
    pub result_to: Option<Target>,
    /// The most sessions directly below the parent in which something runs or waits.
    pub max_children: u32,
    /// The most sessions above it.
    pub max_depth: u32,
    /// The job whose tool begins it, in place of a run of the session.
    pub job: Option<String>,
}

/// The outcome of beginning a session of a sub-agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SpawnStored {
    /// It has begun.
    Begun(SessionKey),
    /// It was begun before, by the same call.
    Again(SessionKey),
    /// Too many are at work below the parent.
    TooMany,
    /// Too many sessions are above it.
    TooDeep,
}

impl Store {
    /// Begins the session of a sub-agent with its first message, in one transaction.
    ///
    /// # Errors
    ///
    /// The label is taken, or may not be one; the parent does not exist, its person is blocked, or its run was cancelled; the prompt is too long.
    pub async fn spawn(&self, spawn: NewSpawn) -> Result<SpawnStored, StoreError> {
        let outcome = self.write(move |writing| begin(writing, &spawn)).await?;
        fail_points::pass("after_spawn");
        Ok(outcome)
    }

    /// Returns the session that a call of a session began.
    pub async fn spawned_by(&self, origin: &str) -> Result<Option<SessionKey>, StoreError> {
        let id = digest(origin);
        self.read(move |connection| {
            let Some(message) = inbox::known(connection, SPAWNED, &id)? else { return Ok(None) };
            Ok(inbox::select(connection, "id = ?1", params![message])?.pop().map(|message| message.session))
        })
        .await
    }

    /// Cancels the run of a session that is in flight, and what its sub-agents do. With `run`, nothing is done unless that is the run, and the
    /// sub-agents of earlier runs go on. Returns the runs, which end as soon as their work has noticed.
    ///
    /// A session does not hear of the end of the sub-agents of a run that is cancelled with them; of others it does. Fires of schedules go on.
    pub async fn cancel_tree(
        &self,
        session: SessionKey,
        run: Option<RunId>,
    ) -> Result<Vec<RunRecord>, StoreError> {
        self.write(move |writing| {
            let own = runs::select(writing.sql, "session = ?1 AND ended_at IS NULL", params![session])?.pop();
            if run.is_some() && own.as_ref().map(|own| &own.id) != run.as_ref() {
                return Ok(Vec::new());
            }
            let mut cancelled = cancel_below(writing, &session, own.as_ref(), run.is_some())?;
            if let Some(own) = own {
                mark(writing, &own.id, false)?;
                cancelled.insert(0, own);
            }
            Ok(cancelled)
        })
        .await
    }

    /// Cancels what the sub-agents of a run do, of which its session does not hear. Returns their runs, which end as soon as their work has noticed.
    pub async fn cancel_sub_agents(
        &self,
        session: SessionKey,
        run: RunId,
    ) -> Result<Vec<RunRecord>, StoreError> {
        self.write(move |writing| {
            let of_run = "session = ?1 AND id = ?2";
            match runs::select(writing.sql, of_run, params![session, run])?.pop() {
                Some(run) => cancel_below(writing, &session, Some(&run), true),
                None => Ok(Vec::new()),
            }
        })
        .await
    }
}

/// A session of a sub-agent in which something runs or waits.
struct Below {
    key: SessionKey,
    /// The session directly below the one whose sub-agents are cancelled, of those in which it stands.
    root: SessionKey,
    /// True if the session above hears of its end: it is directly below, and an earlier run began it.
    is_loud: bool,
    is_of_earlier_run: bool,
}

/// Cancels what the sub-agents of a session do, or those of its run `own` alone. The session hears, once, of the end of each that an earlier run
/// began, and nobody below hears of any. What jobs have begun goes on.
fn cancel_below(
    writing: &Writing<'_>,
    session: &SessionKey,
    own: Option<&RunRecord>,
    of_own_alone: bool,
) -> Result<Vec<RunRecord>, Fault> {
    let mut cancelled = Vec::new();
    let (mut ended, mut told) = (BTreeSet::new(), BTreeSet::new());
    for below in at_work_below(writing, session, own.map(|own| &own.id), of_own_alone)? {
        let mut has_ended = false;
        let queued = "session = ?1 AND state = 'queued' AND kind <> 'fire' ORDER BY id";
        for message in inbox::select(writing.sql, queued, params![below.key])? {
            has_ended = true;
            if below.is_loud {
                withdrawal::take_back(writing, &message)?;
                told.insert(below.root.clone());
            } else {
                inbox::cancel(writing, &message)?;
            }
        }
        let no_fire = "session = ?1 AND ended_at IS NULL AND NOT EXISTS (
            SELECT 1 FROM inbox WHERE inbox.id = runs.message AND inbox.kind = 'fire')";
        for run in runs::select(writing.sql, no_fire, params![below.key])? {
            has_ended = true;
            mark(writing, &run.id, !below.is_loud)?;
            if below.is_loud {
                told.insert(below.root.clone());
            }
            cancelled.push(run);
        }
        if has_ended && below.is_of_earlier_run {
            ended.insert(below.root);
        }
    }
    // One that waited for those below it does so no more.
    for root in ended.difference(&told) {
        handover::report_end_of(writing, root)?;
    }
    Ok(cancelled)
}

fn at_work_below(
    writing: &Writing<'_>,
    session: &SessionKey,
    own: Option<&RunId>,
    of_own_alone: bool,
) -> Result<Vec<Below>, Fault> {
    let of_no_job = "sessions.kind = 'sub' AND begun_in IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM runs JOIN inbox ON inbox.id = runs.message WHERE runs.id = sessions.begun_in AND inbox.kind = 'fire')";
    let sql = format!(
        "WITH RECURSIVE below (key, root, is_loud, is_of_earlier_run) AS (
            SELECT key, key, begun_in IS NOT ?2, begun_in IS NOT ?2 FROM sessions
            WHERE parent = ?1 AND {of_no_job} AND (?3 = 0 OR begun_in = ?2)
            UNION SELECT sessions.key, below.root, 0, below.is_of_earlier_run
            FROM sessions JOIN below ON sessions.parent = below.key WHERE {of_no_job}
        ) SELECT * FROM below WHERE EXISTS (SELECT 1 FROM runs WHERE runs.session = below.key AND runs.ended_at IS NULL)
            OR EXISTS (SELECT 1 FROM inbox WHERE inbox.session = below.key AND inbox.state = 'queued')"
    );
    let mut statement = writing.sql.prepare_cached(&sql)?;
    let below = statement.query_map(params![session, own, of_own_alone], |row| {
        Ok(Below {
            key: row.get(0)?,
            root: row.get(1)?,
            is_loud: row.get(2)?,
            is_of_earlier_run: row.get(3)?,
        })
    })?;
    Ok(below.collect::<Result<_, _>>()?)
}

/// Notes that a run was cancelled. One that is quiet is not told to the session above.
fn mark(writing: &Writing<'_>, run: &RunId, is_quiet: bool) -> Result<(), Fault> {
    let sql = "UPDATE runs SET is_quiet = max(is_quiet, ?3), cancelled_at = coalesce(cancelled_at, ?2) WHERE id = ?1";
    writing.sql.prepare_cached(sql)?.execute(params![run, writing.now, is_quiet])?;
    Ok(())
}

fn begin(writing: &Writing<'_>, spawn: &NewSpawn) -> Result<SpawnStored, Fault> {
    let id = digest(&spawn.origin);
    if let Some(message) = inbox::known(writing.sql, SPAWNED, &id)? {
        let message = inbox::select(writing.sql, "id = ?1", params![message])?.pop();
        return match message {
            Some(message) => Ok(SpawnStored::Again(message.session)),
            None => Err(Fault::Refused("the session was removed meanwhile".to_owned())),
        };
    }
    if sessions::found(writing.sql, &spawn.parent)?.is_none() {
        return Err(sessions::no_session(&spawn.parent));
    }
    if visible::is_blocked(writing.sql, &spawn.parent)? {
        return Err(Fault::Refused("the person of the session is blocked".to_owned()));
    }
    // The tool of a job is called by no run.
    let sql = "SELECT id, cancelled_at IS NOT NULL OR coalesce(started_at + run_timeout <= ?3, 0) FROM runs JOIN sessions ON key = session
        WHERE session = ?1 AND ended_at IS NULL AND ?2 IS NULL";
    let in_flight = writing
        .sql
        .prepare_cached(sql)?
        .query_row(params![spawn.parent, spawn.job, writing.now], |row| {
            Ok((row.get::<_, RunId>(0)?, row.get(1)?))
        })
        .optional()?;
    if let Some((_, true)) = in_flight {
        return Err(Fault::Refused(
            "the run was cancelled, or its time is over, so it begins nothing more".to_owned(),
        ));
    }
    if visible::with_those_above(writing.sql, &spawn.parent)?.len() > spawn.max_depth as usize {
        return Ok(SpawnStored::TooDeep);
    }
    let at_work: u32 = writing
        .sql
        .prepare_cached(
            "SELECT count(*) FROM sessions WHERE parent = ?1 AND (
                 EXISTS (SELECT 1 FROM runs WHERE runs.session = key AND runs.ended_at IS NULL)
                 OR EXISTS (SELECT 1 FROM inbox WHERE inbox.session = key AND inbox.state = 'queued'
                     AND (held_until IS NULL OR held_until <= ?2)))",
        )?
        .query_row(params![spawn.parent, writing.now], |row| row.get(0))?;
    if at_work >= spawn.max_children {
        return Ok(SpawnStored::TooMany);
    }
    // Random, so that nobody knows the key of a session that they may not see.
    let key = SessionKey::sub(&spawn.agent, RunId::random()?.as_str());
    let key = key.map_err(|error| Fault::Refused(error.to_string()))?;
    sessions::ensure(writing, &key, spawn.person.as_deref(), Some(&spawn.parent))?;
    if let Some(label) = &spawn.label {
        sessions::check_label_text(label).map_err(Fault::Refused)?;
        // The agent may not see the session that has it.
        let taken = |_| Fault::Refused(format!("the label `{label}` is taken; take another one"));
        sessions::check_label(writing.sql, &key, label).map_err(taken)?;
    }
    let result_to = spawn.result_to.as_ref().map(serde_json::to_string).transpose()?;
    writing
        .sql
        .prepare_cached(
            "UPDATE sessions SET label = ?2, model = ?3, thinking = ?4, run_timeout = ?5, result_to = ?6, begun_by = ?7, begun_in = ?8 WHERE key = ?1",
        )?
        .execute(params![
            key,
            spawn.label,
            spawn.model,
            spawn.thinking,
            spawn.run_timeout.map(millis),
            result_to,
            serde_json::to_string(&spawn.delegates)?,
            in_flight.map(|(run, _)| run),
        ])?;
    let job = match &spawn.job {
        Some(job) => Some(job.clone()),
        None => budgets::job_in_flight(writing.sql, &spawn.parent)?,
    };
    let body = json!({ "text": spawn.prompt, "from": spawn.parent });
    let message =
        NewMessage::new(SPAWNED, id, key.clone(), body).with_sender(spawn.parent.as_str()).with_job(job);
    match inbox::accept(writing, &message, u32::MAX)? {
        Acceptance::Accepted { .. } => Ok(SpawnStored::Begun(key)),
        Acceptance::Again { .. } | Acceptance::QueueFull { .. } => {
            Err(Fault::Refused("the first message of the sub-agent was not taken".to_owned()))
        }
    }
}
