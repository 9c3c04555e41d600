//! Sessions of sub-agents: begun with their first message, and cancelled with the run of the session above.

use std::time::Duration;

use rusqlite::params;
use serde_json::json;

use super::damage::Fault;
use super::handover::SPAWNED;
use super::ids::{RunId, digest};
use super::inbox::{self, Acceptance, NewMessage};
use super::runs::{self, RunRecord};
use super::writer::Writing;
use super::{Store, StoreError, Target, sessions, visible};
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

    /// Cancels the run of a session that is in flight, and what runs and waits in the sessions below, of which the session does not hear. With `run`,
    /// nothing is done unless that is the run. Returns the runs, which end as soon as their work has noticed.
    pub async fn cancel_tree(
        &self,
        session: SessionKey,
        run: Option<RunId>,
    ) -> Result<Vec<RunRecord>, StoreError> {
        self.write(move |writing| {
            let own = "session = ?1 AND ended_at IS NULL";
            let mut cancelled = runs::select(writing.sql, own, params![session])?;
            if run.is_some() && cancelled.first().map(|own| &own.id) != run.as_ref() {
                return Ok(Vec::new());
            }
            let below = "session IN (
                WITH RECURSIVE below (key) AS (
                    SELECT key FROM sessions WHERE parent = ?1
                    UNION SELECT sessions.key FROM sessions JOIN below ON sessions.parent = below.key
                ) SELECT key FROM below)";
            let waiting = format!("state = 'queued' AND {below} ORDER BY id");
            for message in inbox::select(writing.sql, &waiting, params![session])? {
                inbox::cancel(writing, &message)?;
            }
            let below = format!("ended_at IS NULL AND {below}");
            for (condition, is_quiet) in [(own, false), (&*below, true)] {
                let sql = format!(
                    "UPDATE runs SET is_quiet = max(is_quiet, ?3), cancelled_at = coalesce(cancelled_at, ?2) WHERE {condition}"
                );
                writing.sql.prepare_cached(&sql)?.execute(params![session, writing.now, is_quiet])?;
            }
            cancelled.extend(runs::select(writing.sql, &below, params![session])?);
            Ok(cancelled)
        })
        .await
    }
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
    let sql = "SELECT EXISTS (SELECT 1 FROM runs WHERE session = ?1 AND ended_at IS NULL AND cancelled_at IS NOT NULL)";
    if writing.sql.prepare_cached(sql)?.query_row([&spawn.parent], |row| row.get(0))? {
        return Err(Fault::Refused("the run was cancelled, so it begins nothing more".to_owned()));
    }
    if visible::with_those_above(writing.sql, &spawn.parent)?.len() > spawn.max_depth as usize {
        return Ok(SpawnStored::TooDeep);
    }
    let at_work: u32 = writing
        .sql
        .prepare_cached(
            "SELECT count(*) FROM sessions WHERE parent = ?1 AND (
                 EXISTS (SELECT 1 FROM runs WHERE runs.session = key AND runs.ended_at IS NULL)
                 OR EXISTS (SELECT 1 FROM inbox WHERE inbox.session = key AND inbox.state = 'queued'))",
        )?
        .query_row([&spawn.parent], |row| row.get(0))?;
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
            "UPDATE sessions SET label = ?2, model = ?3, thinking = ?4, run_timeout = ?5, result_to = ?6, begun_by = ?7 WHERE key = ?1",
        )?
        .execute(params![
            key,
            spawn.label,
            spawn.model,
            spawn.thinking,
            spawn.run_timeout.map(millis),
            result_to,
            serde_json::to_string(&spawn.delegates)?
        ])?;
    let body = json!({ "text": spawn.prompt, "from": spawn.parent });
    let message = NewMessage::new(SPAWNED, id, key.clone(), body).with_sender(spawn.parent.as_str());
    match inbox::accept(writing, &message, u32::MAX)? {
        Acceptance::Accepted { .. } => Ok(SpawnStored::Begun(key)),
        Acceptance::Again { .. } | Acceptance::QueueFull { .. } => {
            Err(Fault::Refused("the first message of the sub-agent was not taken".to_owned()))
        }
    }
}
