//! Sessions of sub-agents: begun with their first message, and ended with a message to the session above.

use std::time::Duration;

use rusqlite::{OptionalExtension as _, params};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::damage::Fault;
use super::ids::RunId;
use super::inbox::{self, Acceptance, Message, MessageKind, NewMessage};
use super::runs::{self, RunRecord, RunState};
use super::writer::Writing;
use super::{Store, StoreError, Target, sending, sessions, visible};
use crate::moment::millis;
use crate::{SessionKey, SessionKind, fail_points};

/// The source of the first messages of sub-agents.
const SOURCE: &str = "spawn";
/// The source of their results.
const RESULTS: &str = "sub";
/// The longest answer that is handed to another session, in bytes.
const MAX_ANSWER_BYTES: usize = 100_000;

/// A session of a sub-agent that is to begin.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSpawn {
    /// The session that begins it.
    pub parent: SessionKey,
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
    /// The label is taken; the parent does not exist, its person is blocked, or its run was cancelled; the prompt is too long.
    pub async fn spawn(&self, spawn: NewSpawn) -> Result<SpawnStored, StoreError> {
        let outcome = self.write(move |writing| begin(writing, &spawn)).await?;
        fail_points::pass("after_spawn");
        Ok(outcome)
    }

    /// Returns the session that a call of a session began.
    pub async fn spawned_by(&self, origin: &str) -> Result<Option<SessionKey>, StoreError> {
        let id = digest(origin);
        self.read(move |connection| {
            let Some(message) = inbox::known(connection, SOURCE, &id)? else { return Ok(None) };
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

/// An id of 64 characters that no other text has.
pub(super) fn digest(origin: &str) -> String {
    data_encoding::HEXLOWER.encode(&Sha256::digest(origin))
}

fn begin(writing: &Writing<'_>, spawn: &NewSpawn) -> Result<SpawnStored, Fault> {
    let id = digest(&spawn.origin);
    if let Some(message) = inbox::known(writing.sql, SOURCE, &id)? {
        let message = inbox::select(writing.sql, "id = ?1", params![message])?.pop();
        return match message {
            Some(message) => Ok(SpawnStored::Again(message.session)),
            None => Err(Fault::Refused("the session was removed meanwhile".to_owned())),
        };
    }
    let Some(parent) = sessions::found(writing.sql, &spawn.parent)? else {
        return Err(sessions::no_session(&spawn.parent));
    };
    if visible::is_blocked(writing.sql, &spawn.parent)? {
        return Err(Fault::Refused("the person of the session is blocked".to_owned()));
    }
    let sql = "SELECT EXISTS (SELECT 1 FROM runs WHERE session = ?1 AND ended_at IS NULL AND cancelled_at IS NOT NULL)";
    if writing.sql.prepare_cached(sql)?.query_row([&spawn.parent], |row| row.get(0))? {
        return Err(Fault::Refused("the run was cancelled, so it begins nothing more".to_owned()));
    }
    if parent.agents_above.len() + 1 > spawn.max_depth as usize {
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
    if let Some(label) = &spawn.label {
        // The session that has it may be another person's.
        let taken = |_| Fault::Refused(format!("the label `{label}` is taken; take another one"));
        sessions::check_label(writing.sql, &key, label).map_err(taken)?;
    }
    sessions::ensure(writing, &key, spawn.person.as_deref(), Some(&spawn.parent))?;
    let result_to = spawn.result_to.as_ref().map(serde_json::to_string).transpose()?;
    writing
        .sql
        .prepare_cached(
            "UPDATE sessions SET label = ?2, model = ?3, thinking = ?4, run_timeout = ?5, result_to = ?6 WHERE key = ?1",
        )?
        .execute(params![
            key,
            spawn.label,
            spawn.model,
            spawn.thinking,
            spawn.run_timeout.map(millis),
            result_to
        ])?;
    let body = json!({ "text": spawn.prompt, "from": spawn.parent });
    let message = NewMessage::new(SOURCE, id, key.clone(), body).with_sender(spawn.parent.as_str());
    match inbox::accept(writing, &message, u32::MAX)? {
        Acceptance::Accepted { .. } => Ok(SpawnStored::Begun(key)),
        Acceptance::Again { .. } | Acceptance::QueueFull { .. } => {
            Err(Fault::Refused("the first message of the sub-agent was not taken".to_owned()))
        }
    }
}

/// The end of a run, or of a message that did not come to one, for the session above.
pub(super) struct Report<'a> {
    /// Names it among all results of sub-agents.
    id: &'a str,
    state: RunState,
    text: &'a str,
}

impl<'a> Report<'a> {
    pub(super) fn cancelled(id: &'a str) -> Self {
        Self { id, state: RunState::Cancelled, text: "" }
    }
}

/// Hands the end of a run to the session that asked, as part of the command that ends it.
pub(super) fn hand_over(
    writing: &Writing<'_>,
    run: &RunRecord,
    state: RunState,
    text: Option<&str>,
) -> Result<(), Fault> {
    let Some(message) = inbox::select(writing.sql, "id = ?1", params![run.message])?.pop() else {
        return Ok(());
    };
    let steered = "run = ?1 AND source = ?2 LIMIT 1";
    let is_asked = message.source == sending::SOURCE
        || !inbox::select(writing.sql, steered, params![run.id, sending::SOURCE])?.is_empty();
    if is_asked && state == RunState::Answered {
        let sql = "UPDATE runs SET answer = ?2 WHERE id = ?1";
        writing.sql.prepare_cached(sql)?.execute(params![run.id, text.map(cut)])?;
    }
    let sql = "SELECT is_quiet FROM runs WHERE id = ?1";
    if writing.sql.prepare_cached(sql)?.query_row([&run.id], |row| row.get(0))? {
        return Ok(());
    }
    report(writing, &message, &Report { id: run.id.as_str(), state, text: text.unwrap_or_default() })
}

/// Stores the result of a sub-agent as a message of the session above. A message that another session sent has its sender, who knows where the
/// answer is, and is no task of the session above.
pub(super) fn report(writing: &Writing<'_>, message: &Message, report: &Report<'_>) -> Result<(), Fault> {
    let is_task = message.source == SOURCE || message.kind == MessageKind::Result;
    if message.session.kind() != SessionKind::Sub || !is_task {
        return Ok(());
    }
    let sql = "SELECT parent, label, result_to FROM sessions WHERE key = ?1 AND parent IS NOT NULL";
    let found = writing.sql.prepare_cached(sql)?.query_row([&message.session], |row| {
        Ok((row.get::<_, SessionKey>(0)?, row.get::<_, Option<String>>(1)?, row.get::<_, Option<String>>(2)?))
    });
    let Some((parent, label, result_to)) = found.optional()? else { return Ok(()) };
    if visible::is_blocked(writing.sql, &parent)? {
        return Ok(());
    }
    let label = label.map(|label| format!(" ({label})")).unwrap_or_default();
    let text = cut(report.text);
    let text = match report.state {
        RunState::Answered => format!("Result of the sub-agent `{}`{label}:\n\n{text}", message.session),
        RunState::Cancelled => {
            format!("The sub-agent `{}`{label} was cancelled, and has no result.", message.session)
        }
        _ => format!("The sub-agent `{}`{label} failed: {text}", message.session),
    };
    let body = json!({ "text": text, "from": message.session, "outcome": report.state });
    let mut result = NewMessage::new(RESULTS, report.id, parent, body).with_kind(MessageKind::Result);
    if let Some(target) = result_to {
        result = result.with_reply_to(serde_json::from_str(&target)?);
    }
    inbox::accept(writing, &result, u32::MAX).map(drop)
}

/// The beginning of a long text.
fn cut(text: &str) -> String {
    if text.len() <= MAX_ANSWER_BYTES {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(MAX_ANSWER_BYTES);
    format!("{}\n\n[cut here; `sessions_history` of the session has more]", &text[..end])
}
