//! Messages whose files are still to be fetched and read: each waits until its text is whole.

use rusqlite::params;
use serde_json::{Value, json};

use super::ids::MessageId;
use super::inbox::{self, Message};
use super::target::Target;
use super::visible::BLOCKED;
use super::{Store, StoreError, events, people};

/// The most sessions that are looked at at once.
const MAX_SESSIONS: u32 = 1_000;

/// The most times that it is begun to read the files of a message.
const MAX_READS: u32 = 2;

/// A message with files that are still to be read, as far as the choice needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unread {
    pub(crate) id: MessageId,
    pub(crate) sender: Option<String>,
    pub(crate) reply_to: Option<Target>,
    /// False if the files have to show whether it is for the agent.
    pub(crate) is_addressed: bool,
}

/// A message whose files are read now.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct UnreadMessage {
    pub(crate) message: Message,
    /// All that its text is made of, as it was [handed in](super::NewMessage::with_unread).
    pub(crate) parts: Value,
    pub(crate) is_addressed: bool,
    /// False if reading them was begun too often.
    pub(crate) may_be_read: bool,
}

impl Store {
    /// Returns the first messages of each session whose files are still to be read: those for the agent first, in order. Those of blocked people are
    /// none of them.
    pub(crate) async fn unread(&self) -> Result<Vec<Unread>, StoreError> {
        self.read(|connection| {
            let sql = format!(
                "SELECT id, sender, reply_to, is_addressed FROM inbox WHERE id IN (
                     SELECT min(id) FROM inbox INDEXED BY inbox_unread WHERE state = 'queued' AND unread IS NOT NULL
                     GROUP BY session, is_addressed
                 ) AND session NOT IN ({BLOCKED}) ORDER BY is_addressed DESC, id LIMIT {MAX_SESSIONS}"
            );
            let mut statement = connection.prepare_cached(&sql)?;
            let mut rows = statement.query([])?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                let reply_to: Option<String> = row.get(2)?;
                found.push(Unread {
                    id: row.get(0)?,
                    sender: row.get(1)?,
                    reply_to: reply_to.map(|target| serde_json::from_str(&target)).transpose()?,
                    is_addressed: row.get(3)?,
                });
            }
            Ok(found)
        })
        .await
    }

    /// Begins to read the files of a message. `None` if it was taken back meanwhile, also now since its sender is blocked.
    pub(crate) async fn begin_to_read(&self, id: MessageId) -> Result<Option<UnreadMessage>, StoreError> {
        self.write(move |writing| {
            let Some(message) = inbox::select(writing.sql, UNREAD, params![id])?.pop() else {
                return Ok(None);
            };
            if let Some(sender) = &message.sender
                && people::found(writing.sql, sender)?.is_some_and(|person| person.blocked_at.is_some())
            {
                inbox::cancel(writing, &message)?;
                return Ok(None);
            }
            let sql = "UPDATE inbox SET reads = reads + 1 WHERE id = ?1";
            writing.sql.prepare_cached(sql)?.execute([id])?;
            let sql = "SELECT unread, is_addressed, reads FROM inbox WHERE id = ?1";
            let (parts, is_addressed, reads): (String, bool, u32) = writing
                .sql
                .prepare_cached(sql)?
                .query_row([id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
            let parts = serde_json::from_str(&parts)?;
            Ok(Some(UnreadMessage { message, parts, is_addressed, may_be_read: reads <= MAX_READS }))
        })
        .await
    }

    /// Returns true as long as the files of a message are to be read: it was not taken back, and its sender is not blocked.
    pub(crate) async fn is_to_be_read(&self, id: MessageId) -> Result<bool, StoreError> {
        self.read(move |connection| {
            let sql = format!(
                "SELECT EXISTS (SELECT 1 FROM inbox WHERE {UNREAD} AND session NOT IN ({BLOCKED})
                     AND NOT EXISTS (SELECT 1 FROM people WHERE people.name = inbox.sender AND people.blocked_at IS NOT NULL))"
            );
            Ok(connection.prepare_cached(&sql)?.query_row([id], |row| row.get(0))?)
        })
        .await
    }

    /// Gives a message its whole text: a run may begin with it. Returns false if it was taken back meanwhile.
    ///
    /// # Errors
    ///
    /// The text is too long.
    pub(crate) async fn complete(&self, id: MessageId, body: Value) -> Result<bool, StoreError> {
        self.write(move |writing| {
            let text = body.to_string();
            inbox::check_length(&text)?;
            let Some(message) = inbox::select(writing.sql, UNREAD, params![id])?.pop() else {
                return Ok(false);
            };
            let sql = "SELECT is_addressed FROM inbox WHERE id = ?1";
            let was_addressed = writing.sql.prepare_cached(sql)?.query_row([id], |row| row.get(0))?;
            let sql =
                "UPDATE inbox SET body = ?2, unread = NULL, is_addressed = 1, changed_at = ?3 WHERE id = ?1";
            writing.sql.prepare_cached(sql)?.execute(params![id, text, writing.now])?;
            if was_addressed {
                let data = json!({ "message": id });
                events::write(writing, message.session.as_str(), "message.completed", &data)?;
            } else {
                inbox::told(writing, &message.session, id, message.kind, message.sender.as_deref())?;
            }
            Ok(true)
        })
        .await
    }

    /// Removes a message that turned out not to be for the agent, and its session if it has nothing else.
    pub(crate) async fn leave_out(&self, id: MessageId) -> Result<(), StoreError> {
        self.write(move |writing| {
            let Some(message) = inbox::select(writing.sql, UNREAD, params![id])?.pop() else { return Ok(()) };
            writing.sql.prepare_cached("DELETE FROM inbox WHERE id = ?1")?.execute([id])?;
            // The messages behind it may begin.
            let data = json!({ "message": id });
            events::write(writing, message.session.as_str(), "message.left_out", &data)?;
            writing
                .sql
                .prepare_cached(
                    "DELETE FROM sessions WHERE key = ?1 AND messages = 0 AND transcript IS NULL AND label IS NULL
                         AND NOT EXISTS (SELECT 1 FROM inbox WHERE inbox.session = ?1)
                         AND NOT EXISTS (SELECT 1 FROM runs WHERE runs.session = ?1)
                         AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.session = ?1)",
                )?
                .execute([&message.session])?;
            Ok(())
        })
        .await
    }
}

/// The message of the first parameter, if its files are still to be read.
const UNREAD: &str = "id = ?1 AND state = 'queued' AND unread IS NOT NULL";
