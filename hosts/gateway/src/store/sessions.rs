//! Sessions: conversations that live for long.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, Type, ValueRef};
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde::{Deserialize, Serialize};

use super::clock::Moment;
use super::damage::Fault;
use super::events;
use super::named::named;
use super::visible::visible;
use super::writer::Writing;
use super::{Store, StoreError};
use crate::{SessionKey, SessionKind, ShortKey};

/// The most sessions that one reading returns.
const MAX_LISTED: u32 = 1_000;
/// The longest label, in characters.
const MAX_LABEL_CHARS: usize = 100;

impl ToSql for SessionKey {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        self.as_str().to_sql()
    }
}

impl FromSql for SessionKey {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value.as_str()?.parse().map_err(|error| FromSqlError::Other(Box::new(error)))
    }
}

/// A session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionRecord {
    /// Its key.
    pub key: SessionKey,
    /// Whose it is: a named person, or nobody alone, as for a group.
    pub person: Option<String>,
    /// The session that began it.
    pub parent: Option<SessionKey>,
    /// Its label: no two sessions of one agent and person that are not archived share one.
    pub label: Option<String>,
    /// The id of its transcript, once there is one.
    pub transcript: Option<String>,
    /// When it began.
    pub created_at: Moment,
    /// When it last received a message or ended a run.
    pub active_at: Moment,
    /// When it was archived.
    pub archived_at: Option<Moment>,
    /// Messages that wait.
    pub queued: u32,
    /// True while a run is in flight.
    pub is_running: bool,
    /// Its status.
    pub status: SessionStatus,
    /// The model that is pinned by the job whose session it is, or for the sub-agent.
    pub model: Option<String>,
    /// How many messages it received, and how many answers it gave.
    pub message_count: u64,
    /// How much the model of a sub-agent reasons: `low`, `medium` or `high`.
    pub thinking: Option<String>,
    /// The time after which a run of a sub-agent is cancelled, in milliseconds.
    pub run_timeout_ms: Option<u64>,
    /// The agents above it, the nearest first: those of the sessions above, and those in between to which their runs delegated.
    pub agents_above: Vec<String>,
}

impl SessionRecord {
    /// A session of a person that has not begun.
    pub(crate) fn unbegun(key: SessionKey, person: &str) -> Self {
        Self {
            key,
            person: Some(person.to_owned()),
            parent: None,
            label: None,
            transcript: None,
            created_at: Moment(0),
            active_at: Moment(0),
            archived_at: None,
            queued: 0,
            is_running: false,
            status: SessionStatus::Idle,
            model: None,
            message_count: 0,
            thinking: None,
            run_timeout_ms: None,
            agents_above: Vec::new(),
        }
    }
}

/// Which sessions to list.
#[derive(Debug, Clone, Default)]
pub struct SessionFilter {
    /// Of this agent alone.
    pub agent: Option<String>,
    /// Of these kinds alone; all, if empty.
    pub kinds: Vec<SessionKind>,
    /// Of this person alone.
    pub person: Option<String>,
    /// Those that this person sees alone: their own, and those below.
    pub seen_by: Option<String>,
    /// With this label alone.
    pub label: Option<String>,
    /// With this status alone.
    pub status: Option<SessionStatus>,
    /// The peer of a channel alone, whatever the agent and the account.
    pub short: Option<ShortKey>,
    /// The session itself and those below it alone.
    pub tree_of: Option<SessionKey>,
    /// Those active since then alone.
    pub active_since: Option<Moment>,
    /// Archived ones, too.
    pub with_archived: bool,
    /// Those after this one in the list alone: its time of activity, and its key.
    pub after: Option<(Moment, SessionKey)>,
    /// At most so many, and at most 1,000.
    pub limit: Option<u32>,
}

/// The status of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SessionStatus {
    /// A run has a slot.
    Active,
    /// A run waits, or a message does.
    Waiting,
    /// Nothing runs or waits.
    Idle,
    /// It was archived.
    Archived,
}

named!(SessionStatus { Active = "active", Waiting = "waiting", Idle = "idle", Archived = "archived" });

const COLUMNS: &str = "key, person, parent, label, transcript, created_at, active_at, archived_at,
    (SELECT count(*) FROM inbox WHERE inbox.session = key AND inbox.state = 'queued' AND inbox.is_addressed = 1),
    EXISTS (SELECT 1 FROM runs WHERE runs.session = key AND runs.ended_at IS NULL),
    CASE WHEN archived_at IS NOT NULL THEN 'archived'
         WHEN EXISTS (SELECT 1 FROM runs WHERE runs.session = key AND runs.ended_at IS NULL AND runs.state = 'running') THEN 'active'
         WHEN EXISTS (SELECT 1 FROM runs WHERE runs.session = key AND runs.ended_at IS NULL) THEN 'waiting'
         WHEN EXISTS (SELECT 1 FROM inbox WHERE inbox.session = key AND inbox.state = 'queued' AND inbox.is_addressed = 1) THEN 'waiting'
         ELSE 'idle' END AS status,
    coalesce(model, (SELECT model FROM jobs WHERE jobs.session = key AND model IS NOT NULL LIMIT 1)),
    messages, thinking, run_timeout,
    CASE WHEN parent IS NULL THEN '[]' ELSE (
        WITH RECURSIVE up (agent, begun_by, parent, depth) AS (
            SELECT NULL, own.begun_by, own.parent, 0 FROM sessions AS own WHERE own.key = sessions.key
            UNION ALL SELECT above.agent, above.begun_by, above.parent, up.depth + 1 FROM sessions AS above JOIN up ON above.key = up.parent
                WHERE up.depth < 100
        ), chain (agent, depth, place) AS (
            SELECT agent, depth, -1 FROM up WHERE agent IS NOT NULL
            UNION ALL SELECT json_each.value, depth, json_each.key FROM up, json_each(up.begun_by)
        ) SELECT json_group_array(agent ORDER BY depth, place) FROM chain
    ) END";

fn of_row(row: &Row<'_>) -> rusqlite::Result<SessionRecord> {
    Ok(SessionRecord {
        key: row.get(0)?,
        person: row.get(1)?,
        parent: row.get(2)?,
        label: row.get(3)?,
        transcript: row.get(4)?,
        created_at: row.get(5)?,
        active_at: row.get(6)?,
        archived_at: row.get(7)?,
        queued: row.get(8)?,
        is_running: row.get(9)?,
        status: row.get(10)?,
        model: row.get(11)?,
        message_count: row.get::<_, i64>(12)?.unsigned_abs(),
        thinking: row.get(13)?,
        run_timeout_ms: row.get::<_, Option<i64>>(14)?.map(i64::unsigned_abs),
        agents_above: serde_json::from_str(&row.get::<_, String>(15)?)
            .map_err(|error| rusqlite::Error::FromSqlConversionFailure(15, Type::Text, Box::new(error)))?,
    })
}

impl Store {
    /// Makes a session, if there is none of this key, for a person and below another session. One that exists stays as it is.
    pub async fn open_session(
        &self,
        key: SessionKey,
        person: Option<String>,
        parent: Option<SessionKey>,
    ) -> Result<SessionRecord, StoreError> {
        self.write(move |writing| {
            if let Some(parent) = &parent
                && found(writing.sql, parent)?.is_none()
            {
                return Err(no_session(parent));
            }
            ensure(writing, &key, person.as_deref(), parent.as_ref())?;
            found(writing.sql, &key)?.ok_or_else(|| no_session(&key))
        })
        .await
    }

    /// Returns a session.
    pub async fn session(&self, key: SessionKey) -> Result<Option<SessionRecord>, StoreError> {
        self.read(move |connection| found(connection, &key)).await
    }

    /// Lists sessions, the one that was active last first.
    pub async fn sessions(&self, filter: SessionFilter) -> Result<Vec<SessionRecord>, StoreError> {
        self.read(move |connection| listed(connection, &filter)).await
    }

    /// Counts the sessions of a person, archived ones included, and those of sub-agents not.
    pub async fn sessions_of(&self, person: String) -> Result<u64, StoreError> {
        self.read(move |connection| {
            let sql = "SELECT count(*) FROM sessions WHERE person = ?1 AND kind <> 'sub'";
            let count: i64 = connection.prepare_cached(sql)?.query_row([person], |row| row.get(0))?;
            Ok(count.unsigned_abs())
        })
        .await
    }

    /// Finds the session of an agent that has this label, is not archived, and belongs to the person of a session.
    pub async fn labelled(
        &self,
        of: SessionKey,
        agent: String,
        label: String,
    ) -> Result<Option<SessionRecord>, StoreError> {
        self.read(move |connection| {
            let sql = format!(
                "SELECT {COLUMNS} FROM sessions WHERE agent = ?2 AND label = ?3 AND archived_at IS NULL
                     AND labels_of = (SELECT own.labels_of FROM sessions AS own WHERE own.key = ?1)"
            );
            Ok(connection.prepare_cached(&sql)?.query_row(params![of, agent, label], of_row).optional()?)
        })
        .await
    }

    /// Gives a session a label, or takes it away.
    ///
    /// # Errors
    ///
    /// There is no such session, another one of its agent and person has the label, or the text may not be a label.
    pub async fn label(&self, key: SessionKey, label: Option<String>) -> Result<(), StoreError> {
        self.write(move |writing| {
            if let Some(label) = &label {
                check_label_text(label).map_err(Fault::Refused)?;
                check_label(writing.sql, &key, label)?;
            }
            change(writing, &key, "UPDATE sessions SET label = ?2 WHERE key = ?1", params![key, label])?;
            events::write(writing, key.as_str(), "session.labelled", &serde_json::json!({ "label": label }))
        })
        .await
    }

    /// Notes which transcript holds the content of a session.
    pub async fn set_transcript(&self, key: SessionKey, transcript: String) -> Result<(), StoreError> {
        self.write(move |writing| {
            let sql = "UPDATE sessions SET transcript = ?2 WHERE key = ?1";
            change(writing, &key, sql, params![key, transcript])
        })
        .await
    }

    /// Returns the session that has this transcript.
    pub(crate) async fn session_of_transcript(
        &self,
        transcript: String,
    ) -> Result<Option<SessionKey>, StoreError> {
        self.read(move |connection| {
            let sql = "SELECT key FROM sessions WHERE transcript = ?1";
            Ok(connection.prepare_cached(sql)?.query_row([transcript], |row| row.get(0)).optional()?)
        })
        .await
    }

    /// Archives a session, or takes it back. One that receives a message is taken back by it.
    pub async fn archive(&self, key: SessionKey, archived: bool) -> Result<(), StoreError> {
        self.write(move |writing| {
            let at = archived.then_some(writing.now);
            // The label may belong to another one by now.
            let sql = "UPDATE sessions SET archived_at = ?2, label = CASE WHEN ?2 IS NULL AND EXISTS (
                           SELECT 1 FROM sessions AS other WHERE other.agent = sessions.agent AND other.labels_of = sessions.labels_of
                               AND other.label = sessions.label
                               AND other.key <> sessions.key AND other.archived_at IS NULL
                       ) THEN NULL ELSE label END WHERE key = ?1";
            change(writing, &key, sql, params![key, at])?;
            let kind = if archived { "session.archived" } else { "session.restored" };
            events::write(writing, key.as_str(), kind, &serde_json::json!({}))
        })
        .await
    }
}

fn listed(connection: &Connection, filter: &SessionFilter) -> Result<Vec<SessionRecord>, Fault> {
    let kinds = serde_json::to_string(&filter.kinds)?;
    let limit = filter.limit.unwrap_or(MAX_LISTED).min(MAX_LISTED);
    let (after_at, after_key) = filter.after.as_ref().map(|(at, key)| (at, key.as_str())).unzip();
    // No part of a key has a character that a pattern reads in another way.
    let short = filter.short.as_ref().map(ShortKey::pattern);
    let with_archived = filter.with_archived || filter.status == Some(SessionStatus::Archived);
    let sql = format!(
        "WITH RECURSIVE {}, tree (key) AS (
             SELECT ?5 UNION SELECT sessions.key FROM sessions JOIN tree ON sessions.parent = tree.key
         )
         SELECT * FROM (SELECT {COLUMNS} FROM sessions
             WHERE (?1 IS NULL OR agent = ?1)
               AND (?2 = '[]' OR kind IN (SELECT value FROM json_each(?2)))
               AND (?3 IS NULL OR person = ?3)
               AND (?4 IS NULL OR active_at >= ?4)
               AND (?5 IS NULL OR key IN (SELECT key FROM tree))
               AND (?6 OR archived_at IS NULL)
               AND (?7 IS NULL OR key IN (SELECT key FROM visible))
               AND (?8 IS NULL OR label = ?8)
               AND (?9 IS NULL OR key GLOB ?9)
               AND (?10 IS NULL OR active_at < ?10 OR (active_at = ?10 AND key > ?11)))
         WHERE ?12 IS NULL OR status = ?12
         ORDER BY active_at DESC, key LIMIT ?13",
        visible("?7")
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map(
        params![
            filter.agent,
            kinds,
            filter.person,
            filter.active_since,
            filter.tree_of,
            with_archived,
            filter.seen_by,
            filter.label,
            short,
            after_at,
            after_key,
            filter.status,
            limit
        ],
        of_row,
    )?;
    let mut sessions = rows.collect::<Result<Vec<_>, _>>()?;
    if let Some(short) = &filter.short {
        sessions.retain(|session| session.key.is_of(short));
    }
    Ok(sessions)
}

fn change(writing: &Writing<'_>, key: &SessionKey, sql: &str, values: &[&dyn ToSql]) -> Result<(), Fault> {
    match writing.sql.prepare_cached(sql)?.execute(values)? {
        0 => Err(no_session(key)),
        _ => Ok(()),
    }
}

pub(super) fn no_session(key: &SessionKey) -> Fault {
    Fault::Refused(format!("there is no session `{key}`; `sessions_list` names those that are there"))
}

pub(super) fn found(connection: &Connection, key: &SessionKey) -> Result<Option<SessionRecord>, Fault> {
    let sql = format!("SELECT {COLUMNS} FROM sessions WHERE key = ?1");
    Ok(connection.prepare_cached(&sql)?.query_row([key], of_row).optional()?)
}

/// Checks that a text may be a label, of which agents of other sessions read.
///
/// # Errors
///
/// It is empty, too long, or has control characters; the error says so.
pub(crate) fn check_label_text(label: &str) -> Result<(), String> {
    let length = label.chars().count();
    if length == 0 || length > MAX_LABEL_CHARS || label.chars().any(char::is_control) {
        return Err(format!("a label has 1 to {MAX_LABEL_CHARS} characters, and no control characters"));
    }
    Ok(())
}

/// Checks that no other session of the agent and the person of a session has a label.
pub(super) fn check_label(connection: &Connection, key: &SessionKey, label: &str) -> Result<(), Fault> {
    let sql = "SELECT other.key FROM sessions AS own
                   JOIN sessions AS other ON other.agent = own.agent AND other.labels_of = own.labels_of
               WHERE own.key = ?1 AND other.label = ?2 AND other.key <> ?1 AND other.archived_at IS NULL";
    let other: Option<String> =
        connection.prepare_cached(sql)?.query_row(params![key, label], |row| row.get(0)).optional()?;
    match other {
        Some(other) => Err(Fault::Refused(format!(
            "the label `{label}` belongs to the session `{other}`; take another one, or archive that session"
        ))),
        None => Ok(()),
    }
}

/// Makes a session, as part of a command, if there is none of this key.
pub(super) fn ensure(
    writing: &Writing<'_>,
    key: &SessionKey,
    person: Option<&str>,
    parent: Option<&SessionKey>,
) -> Result<(), Fault> {
    let made = writing
        .sql
        .prepare_cached(
            "INSERT INTO sessions (key, agent, kind, person, parent, created_at, active_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)
             ON CONFLICT (key) DO NOTHING",
        )?
        .execute(params![key, key.agent(), key.kind().name(), person, parent, writing.now])?;
    if made > 0 {
        events::write(writing, key.as_str(), "session.begun", &serde_json::json!({ "parent": parent }))?;
    }
    Ok(())
}

/// Counts, as part of a command, a message that a session received, or an answer that it gave.
pub(super) fn count_message(writing: &Writing<'_>, key: &SessionKey) -> Result<(), Fault> {
    let sql = "UPDATE sessions SET messages = messages + 1 WHERE key = ?1";
    writing.sql.prepare_cached(sql)?.execute([key])?;
    Ok(())
}

/// Notes, as part of a command, that a session is active.
pub(super) fn touch(writing: &Writing<'_>, key: &str) -> Result<(), Fault> {
    writing
        .sql
        .prepare_cached(
            "UPDATE sessions SET active_at = max(active_at, ?2),
                 label = CASE WHEN archived_at IS NOT NULL AND EXISTS (
                     SELECT 1 FROM sessions AS other WHERE other.agent = sessions.agent AND other.labels_of = sessions.labels_of
                               AND other.label = sessions.label
                         AND other.key <> sessions.key AND other.archived_at IS NULL
                 ) THEN NULL ELSE label END,
                 archived_at = NULL
             WHERE key = ?1",
        )?
        .execute(params![key, writing.now])?;
    Ok(())
}
