//! Messages whose files are still to be fetched and read: each waits until its text is whole.

use rusqlite::params;
use serde_json::{Value, json};

use super::damage::Fault;
use super::ids::MessageId;
use super::inbox::{self, Message};
use super::visible::BLOCKED;
use super::{Store, StoreError, events, people};

/// The most sessions that are looked at at once.
const MAX_SESSIONS: u32 = 1_000;

/// A message with files that are still to be read.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct UnreadMessage {
    pub(crate) message: Message,
    /// All that its text is made of, as it was [handed in](super::NewMessage::with_unread).
    pub(crate) parts: Value,
}

impl Store {
    /// Returns the first message of each session whose files are still to be read, in order. Those of blocked people are none of them.
    pub(crate) async fn unread(&self) -> Result<Vec<UnreadMessage>, StoreError> {
        self.read(|connection| {
            let first = format!(
                "id IN (SELECT min(id) FROM inbox INDEXED BY inbox_unread WHERE state = 'queued' AND unread IS NOT NULL GROUP BY session)
                 AND session NOT IN ({BLOCKED}) ORDER BY id LIMIT {MAX_SESSIONS}"
            );
            let reading = connection.unchecked_transaction()?;
            let messages = inbox::select(&reading, &first, &[])?;
            let mut statement = reading.prepare_cached("SELECT unread FROM inbox WHERE id = ?1")?;
            messages
                .into_iter()
                .map(|message| {
                    let parts: String = statement.query_row([message.id], |row| row.get(0))?;
                    Ok(UnreadMessage { parts: serde_json::from_str(&parts)?, message })
                })
                .collect::<Result<_, Fault>>()
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

    /// Takes back a message whose sender is blocked. Returns false if there is none.
    pub(crate) async fn take_back_of_blocked(&self, id: MessageId) -> Result<bool, StoreError> {
        self.write(move |writing| {
            let Some(message) = inbox::select(writing.sql, UNREAD, params![id])?.pop() else {
                return Ok(false);
            };
            let Some(sender) = &message.sender else { return Ok(false) };
            let is_blocked =
                people::found(writing.sql, sender)?.is_some_and(|person| person.blocked_at.is_some());
            if is_blocked {
                inbox::cancel(writing, &message)?;
            }
            Ok(is_blocked)
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
