//! The inbox: messages that were accepted, until one run has consumed them.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde::Serialize;
use serde_json::{Value, json};

use super::clock::Moment;
use super::damage::Fault;
use super::ids::{MessageId, RunId};
use super::named::named;
use super::target::Target;
use super::writer::Writing;
use super::{Store, StoreError, events, sessions};
use crate::{SessionKey, fail_points};

/// The longest body of a message, in bytes of its JSON.
const MAX_BODY_BYTES: usize = 1 << 20;
/// The most messages of a session of which it is not known whether they are for the agent; more are dropped.
const MAX_UNADDRESSED: u32 = 20;
/// The longest name of a source, and the longest id in it, in bytes.
const MAX_ID_BYTES: usize = 512;

/// Where a message comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MessageKind {
    /// A person or a program wrote it.
    Message,
    /// It is the result of a sub-agent or of a deferred call.
    Result,
    /// A schedule fired.
    Fire,
}

/// How far a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MessageState {
    /// It waits.
    Queued,
    /// A run has taken it, and its transcript does not hold it yet.
    Claimed,
    /// The transcript of its run holds it.
    Consumed,
    /// It was taken back before a run consumed it.
    Cancelled,
}

named!(MessageKind { Message = "message", Result = "result", Fire = "fire" });
named!(MessageState { Queued = "queued", Claimed = "claimed", Consumed = "consumed", Cancelled = "cancelled" });

/// A message that is handed in.
#[derive(Debug, Clone, PartialEq)]
pub struct NewMessage {
    source: String,
    external_id: String,
    offset: Option<String>,
    session: SessionKey,
    person: Option<String>,
    sender: Option<String>,
    kind: MessageKind,
    body: Value,
    unread: Option<Value>,
    is_addressed: bool,
    reply_to: Option<Target>,
    job: Option<String>,
}

impl NewMessage {
    /// A message for a session, with an id that is unique in its source. The source is a text such as `telegram:bot`.
    pub fn new(
        source: impl Into<String>,
        external_id: impl Into<String>,
        session: SessionKey,
        body: Value,
    ) -> Self {
        Self {
            source: source.into(),
            external_id: external_id.into(),
            offset: None,
            session,
            person: None,
            sender: None,
            kind: MessageKind::Message,
            body,
            unread: None,
            is_addressed: true,
            reply_to: None,
            job: None,
        }
    }

    /// The session that it is for.
    pub fn session(&self) -> &SessionKey {
        &self.session
    }

    /// Stores how far its source was read, in the same transaction.
    #[must_use]
    pub fn with_offset(mut self, offset: impl Into<String>) -> Self {
        self.offset = Some(offset.into());
        self
    }

    /// Names who sent it: only a message of the same sender steers a run.
    #[must_use]
    pub fn with_sender(mut self, sender: impl Into<String>) -> Self {
        self.sender = Some(sender.into());
        self
    }

    /// Names the person to whom the session belongs, if the message begins it.
    #[must_use]
    pub fn with_person(mut self, person: impl Into<String>) -> Self {
        self.person = Some(person.into());
        self
    }

    /// Says where it comes from.
    #[must_use]
    pub fn with_kind(mut self, kind: MessageKind) -> Self {
        self.kind = kind;
        self
    }

    /// Says where the answer goes.
    #[must_use]
    pub fn with_reply_to(mut self, target: Target) -> Self {
        self.reply_to = Some(target);
        self
    }

    /// Says that it has files which are still to be read: it waits until its text [is whole](Store::complete).
    #[must_use]
    pub(crate) fn with_unread(mut self, unread: Value) -> Self {
        self.unread = Some(unread);
        self
    }

    /// Says that its files have to show whether it is for the agent: until then nobody is told of it.
    #[must_use]
    pub(crate) fn unaddressed(mut self) -> Self {
        self.is_addressed = false;
        self
    }

    /// Names the job for which its run works.
    #[must_use]
    pub(super) fn with_job(mut self, job: Option<String>) -> Self {
        self.job = job;
        self
    }
}

/// The outcome of handing in a message. Its source may be acknowledged, but where the queue is full.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Acceptance {
    /// It is stored.
    Accepted {
        /// Its number.
        id: MessageId,
    },
    /// It was stored before, under this number; nothing was done.
    Again {
        /// Its number.
        id: MessageId,
        /// How far it is.
        state: MessageState,
    },
    /// So many messages wait in the session that no more is taken. It was not stored, nor how far its source was read: that goes with what its
    /// sender is told.
    QueueFull {
        /// The limit.
        limit: u32,
    },
}

/// A message that was accepted.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Message {
    /// Its number.
    pub id: MessageId,
    /// Its source.
    pub source: String,
    /// Its id there.
    pub external_id: String,
    /// Its session.
    pub session: SessionKey,
    /// Who sent it.
    pub sender: Option<String>,
    /// Where it comes from.
    pub kind: MessageKind,
    /// Its content.
    pub body: Value,
    /// Where the answer goes.
    pub reply_to: Option<Target>,
    /// How far it is.
    pub state: MessageState,
    /// The run that took it.
    pub run: Option<RunId>,
    /// When it was accepted.
    pub accepted_at: Moment,
}

/// The outcome of taking a message back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CancelOutcome {
    /// It waited, and will not be run.
    Cancelled,
    /// It waits no more.
    TooLate {
        /// How far it is.
        state: MessageState,
        /// The run that took it.
        run: Option<RunId>,
    },
    /// There is no such message.
    Unknown,
}

impl Message {
    /// An id that no other message has, also after a backup was put back: that of its source, with the source.
    pub fn key(&self) -> String {
        format!("{}/{}/{}", self.source.len(), self.source, self.external_id)
    }
}

const COLUMNS: &str =
    "id, source, external_id, session, sender, kind, body, reply_to, state, run, accepted_at";

fn of_row(row: &Row<'_>) -> Result<Message, Fault> {
    let reply_to: Option<String> = row.get(7)?;
    Ok(Message {
        id: row.get(0)?,
        source: row.get(1)?,
        external_id: row.get(2)?,
        session: row.get(3)?,
        sender: row.get(4)?,
        kind: row.get(5)?,
        body: serde_json::from_str(&row.get::<_, String>(6)?)?,
        reply_to: reply_to.map(|target| serde_json::from_str(&target)).transpose()?,
        state: row.get(8)?,
        run: row.get(9)?,
        accepted_at: row.get(10)?,
    })
}

/// Reads messages.
pub(super) fn select(
    connection: &Connection,
    condition: &str,
    values: &[&dyn ToSql],
) -> Result<Vec<Message>, Fault> {
    let mut statement =
        connection.prepare_cached(&format!("SELECT {COLUMNS} FROM inbox WHERE {condition}"))?;
    let mut rows = statement.query(values)?;
    let mut messages = Vec::new();
    while let Some(row) = rows.next()? {
        messages.push(of_row(row)?);
    }
    Ok(messages)
}

impl Store {
    /// Stores a message, once: the same id of the same source is known for 30 days after it was consumed. Makes its session if there is none.
    ///
    /// # Errors
    ///
    /// The store cannot be written, or the message is longer than 1 MiB. Then its source must not be acknowledged.
    pub async fn accept(&self, message: NewMessage) -> Result<Acceptance, StoreError> {
        let max_queued = self.0.options.max_queued;
        let accepted = self.write(move |writing| accept(writing, &message, max_queued)).await?;
        fail_points::pass("after_accept");
        Ok(accepted)
    }

    /// Stores how far a source was read, for what is no message.
    pub async fn set_offset(&self, source: String, offset: String) -> Result<(), StoreError> {
        self.write(move |writing| set_offset(writing, &source, &offset)).await
    }

    /// Returns how far a source was read.
    pub async fn offset(&self, source: String) -> Result<Option<String>, StoreError> {
        self.read(move |connection| {
            let sql = "SELECT value FROM offsets WHERE source = ?1";
            Ok(connection.prepare_cached(sql)?.query_row([source], |row| row.get(0)).optional()?)
        })
        .await
    }

    /// Returns a message.
    pub async fn message(&self, id: MessageId) -> Result<Option<Message>, StoreError> {
        self.read(move |connection| Ok(select(connection, "id = ?1", params![id])?.pop())).await
    }

    /// Returns the messages that wait in a session, in order.
    pub async fn queued(&self, session: SessionKey) -> Result<Vec<Message>, StoreError> {
        self.read(move |connection| {
            let waiting = "session = ?1 AND state = 'queued' AND is_addressed = 1 ORDER BY id";
            select(connection, waiting, params![session])
        })
        .await
    }
}

impl Store {
    /// Takes back the messages of people that wait in a session, and those that were to reach its run and have not: they do not wait again
    /// once it ends. Results of sub-agents and fires of jobs stay. Returns how many there are.
    pub(crate) async fn withdraw(&self, session: SessionKey) -> Result<usize, StoreError> {
        self.write(move |writing| {
            let waiting = "session = ?1 AND state = 'queued' AND kind = 'message' AND is_addressed = 1 ORDER BY id";
            let waiting = select(writing.sql, waiting, params![session])?;
            for message in &waiting {
                cancel(writing, message)?;
            }
            let on_their_way = writing
                .sql
                .prepare_cached(
                    "UPDATE inbox SET is_withdrawn = 1 WHERE session = ?1 AND state = 'claimed' AND kind = 'message' AND is_withdrawn = 0
                       AND run IN (SELECT id FROM runs WHERE ended_at IS NULL AND message <> inbox.id)",
                )?
                .execute([&session])?;
            Ok(waiting.len() + on_their_way)
        })
        .await
    }
}

/// Returns the number of the message that has this id in its source.
pub(super) fn known(
    connection: &Connection,
    source: &str,
    external_id: &str,
) -> Result<Option<MessageId>, Fault> {
    let sql = "SELECT id FROM inbox WHERE source = ?1 AND external_id = ?2";
    Ok(connection.prepare_cached(sql)?.query_row([source, external_id], |row| row.get(0)).optional()?)
}

/// Stores a message as part of a command.
pub(super) fn accept(
    writing: &Writing<'_>,
    message: &NewMessage,
    max_queued: u32,
) -> Result<Acceptance, Fault> {
    let body = message.body.to_string();
    let unread = message.unread.as_ref().map(Value::to_string);
    let too_long = [(&message.source, "source"), (&message.external_id, "external id")];
    if let Some((_, name)) = too_long.into_iter().find(|(text, _)| text.len() > MAX_ID_BYTES) {
        return Err(Fault::Refused(format!("the {name} of a message is longer than {MAX_ID_BYTES} bytes")));
    }
    check_length(&body)?;
    unread.as_deref().map_or(Ok(()), check_length)?;
    let read_on = || match &message.offset {
        Some(offset) => set_offset(writing, &message.source, offset),
        None => Ok(()),
    };
    let known = writing
        .sql
        .prepare_cached("SELECT id, state FROM inbox WHERE source = ?1 AND external_id = ?2")?
        .query_row([&message.source, &message.external_id], |row| {
            Ok(Acceptance::Again { id: row.get(0)?, state: row.get(1)? })
        })
        .optional()?;
    if let Some(known) = known {
        read_on()?;
        return Ok(known);
    }
    let limit = if message.is_addressed { max_queued } else { MAX_UNADDRESSED };
    if message.kind == MessageKind::Message
        && queued(writing.sql, &message.session, message.is_addressed)? >= limit
    {
        return Ok(Acceptance::QueueFull { limit });
    }
    read_on()?;
    sessions::ensure(writing, &message.session, message.person.as_deref(), None)?;
    let reply_to = message.reply_to.as_ref().map(serde_json::to_string).transpose()?;
    writing
        .sql
        .prepare_cached(
            "INSERT INTO inbox (source, external_id, session, sender, kind, body, reply_to, job, unread, is_addressed, state, accepted_at, changed_at)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?10, ?11, 'queued', ?9, ?9)",
        )?
        .execute(params![
            message.source,
            message.external_id,
            message.session,
            message.sender,
            message.kind,
            body,
            reply_to,
            message.job,
            writing.now,
            unread,
            message.is_addressed
        ])?;
    let id = MessageId(writing.sql.last_insert_rowid());
    if message.is_addressed {
        told(writing, &message.session, id, message.kind, message.sender.as_deref())?;
    } else {
        events::write(writing, message.session.as_str(), "message.received", &json!({ "message": id }))?;
    }
    Ok(Acceptance::Accepted { id })
}

/// Counts a message, and tells of it, as part of a command.
pub(super) fn told(
    writing: &Writing<'_>,
    session: &SessionKey,
    id: MessageId,
    kind: MessageKind,
    sender: Option<&str>,
) -> Result<(), Fault> {
    sessions::touch(writing, session.as_str())?;
    sessions::count_message(writing, session)?;
    let data = json!({ "message": id, "kind": kind, "sender": sender });
    events::write(writing, session.as_str(), "message.accepted", &data)
}

/// Refuses content that has too many bytes of JSON.
pub(super) fn check_length(body: &str) -> Result<(), Fault> {
    if body.len() > MAX_BODY_BYTES {
        let bytes = body.len();
        return Err(Fault::Refused(format!(
            "the message has {bytes} bytes as JSON, and the limit is {MAX_BODY_BYTES}; upload large content as a file, and name it"
        )));
    }
    Ok(())
}

/// Counts the messages of people that wait in a session.
fn queued(connection: &Connection, session: &SessionKey, is_addressed: bool) -> Result<u32, Fault> {
    let sql = "SELECT count(*) FROM inbox
        WHERE session = ?1 AND state = 'queued' AND kind = 'message' AND is_addressed = ?2";
    Ok(connection.prepare_cached(sql)?.query_row(params![session, is_addressed], |row| row.get(0))?)
}

/// Takes a message back that waits, as part of a command.
pub(super) fn cancel(writing: &Writing<'_>, message: &Message) -> Result<(), Fault> {
    set_state(writing, message.id, MessageState::Cancelled, None)?;
    let data = json!({ "message": message.id });
    events::write(writing, message.session.as_str(), "message.cancelled", &data)
}

/// Moves a message to another state, as part of a command.
pub(super) fn set_state(
    writing: &Writing<'_>,
    id: MessageId,
    state: MessageState,
    run: Option<&RunId>,
) -> Result<(), Fault> {
    writing
        .sql
        .prepare_cached("UPDATE inbox SET state = ?2, run = ?3, changed_at = ?4 WHERE id = ?1")?
        .execute(params![id, state, run, writing.now])?;
    Ok(())
}

/// Stores how far a source was read, as part of a command.
pub(super) fn set_offset(writing: &Writing<'_>, source: &str, offset: &str) -> Result<(), Fault> {
    writing
        .sql
        .prepare_cached(
            "INSERT INTO offsets (source, value, changed_at) VALUES (?1, ?2, ?3)
             ON CONFLICT (source) DO UPDATE SET value = excluded.value, changed_at = excluded.changed_at",
        )?
        .execute(params![source, offset, writing.now])?;
    Ok(())
}
