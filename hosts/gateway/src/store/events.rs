//! Events: what happened in the store, in order, for those who watch.

use rusqlite::{Connection, params};
use serde::Serialize;
use serde_json::Value;

use super::clock::Moment;
use super::damage::Fault;
use super::visible::visible;
use super::writer::Writing;
use super::{Store, StoreError};
use crate::SessionKey;

/// The most events that one reading returns.
const MAX_READ: u32 = 1_000;

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Event {
    /// Its number: it grows, and a reader goes on after the last that it saw.
    pub seq: i64,
    /// The time.
    pub at: Moment,
    /// The session that it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionKey>,
    /// The name of what happened, such as `message.accepted` or `run.ended`.
    pub kind: String,
    /// More about it.
    pub data: Value,
}

/// Which events a reader sees.
#[derive(Debug, Clone, Default)]
pub struct EventFilter {
    /// Those of this session alone.
    pub session: Option<SessionKey>,
    /// Those that this person sees alone: of their sessions and of those below, and about themselves.
    pub person: Option<String>,
    /// The questions of this agent as well, which that person answers.
    pub asks_of: Option<String>,
}

/// Some events, and what is kept at the same time.
#[derive(Debug, Clone, PartialEq)]
pub struct EventPage {
    /// The events, in order.
    pub events: Vec<Event>,
    /// The number of the first event that is kept; `None` if there is none.
    pub first_kept: Option<i64>,
    /// All events up to this number were looked at: a reader goes on after it.
    pub seen: i64,
}

impl Store {
    /// Returns events after the one with this number, in order: at most `limit`, and at most 1,000. An event that was removed by retention
    /// is missing; [`event_page`](Self::event_page) says where the kept ones begin.
    pub async fn events(
        &self,
        after: i64,
        filter: EventFilter,
        limit: u32,
    ) -> Result<Vec<Event>, StoreError> {
        Ok(self.event_page(after, filter, limit).await?.events)
    }

    /// Returns events as [`events`](Self::events) does, and how much was looked at, all as it was at one time.
    pub async fn event_page(
        &self,
        after: i64,
        filter: EventFilter,
        limit: u32,
    ) -> Result<EventPage, StoreError> {
        self.read(move |connection| {
            let limit = limit.min(MAX_READ);
            let reading = connection.unchecked_transaction()?;
            let events = selected(&reading, after, &filter, limit)?;
            let first_kept = reading.query_row("SELECT min(seq) FROM events", [], |row| row.get(0))?;
            let is_whole = events.len() < limit as usize;
            let seen =
                if is_whole { last(&reading)? } else { events.last().map_or(after, |event| event.seq) };
            Ok(EventPage { events, first_kept, seen: seen.max(after) })
        })
        .await
    }

    /// Writes an event of a session about something outside the store.
    pub async fn note(&self, session: SessionKey, kind: &'static str, data: Value) -> Result<(), StoreError> {
        self.write(move |writing| write(writing, session.as_str(), kind, &data)).await
    }

    /// The number of the first event that is kept; `None` if there is none.
    pub async fn first_event(&self) -> Result<Option<i64>, StoreError> {
        self.read(|connection| Ok(connection.query_row("SELECT min(seq) FROM events", [], |row| row.get(0))?))
            .await
    }
}

fn selected(
    connection: &Connection,
    after: i64,
    filter: &EventFilter,
    limit: u32,
) -> Result<Vec<Event>, Fault> {
    let mut statement = connection.prepare_cached(&format!(
        "WITH RECURSIVE {}
         SELECT seq, at, session, kind, data FROM events
         WHERE seq > ?1 AND (?2 IS NULL OR session = ?2)
           AND (?3 IS NULL OR person = ?3 OR session IN (SELECT key FROM visible)
                OR (kind GLOB 'ask.*' AND EXISTS (SELECT 1 FROM sessions WHERE key = events.session AND agent = ?5)))
         ORDER BY seq LIMIT ?4",
        visible("?3")
    ))?;
    let session = filter.session.as_ref().map(SessionKey::as_str);
    let mut rows = statement.query(params![after, session, filter.person, limit, filter.asks_of])?;
    let mut events = Vec::new();
    while let Some(row) = rows.next()? {
        events.push(Event {
            seq: row.get(0)?,
            at: row.get(1)?,
            session: row.get(2)?,
            kind: row.get(3)?,
            data: serde_json::from_str(&row.get::<_, String>(4)?)?,
        });
    }
    Ok(events)
}

/// The number of the last event, removed ones included.
pub(super) fn last(connection: &Connection) -> Result<i64, Fault> {
    let sql = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'events'";
    Ok(connection.query_row(sql, [], |row| row.get(0))?)
}

/// Writes an event of a session, as part of a command.
pub(super) fn write(writing: &Writing<'_>, session: &str, kind: &str, data: &Value) -> Result<(), Fault> {
    writing
        .sql
        .prepare_cached(
            "INSERT INTO events (at, session, person, kind, data)
             VALUES (?1, ?2, (SELECT person FROM sessions WHERE key = ?2), ?3, ?4)",
        )?
        .execute(params![writing.now, session, kind, data.to_string()])?;
    writing.last_event.set(writing.sql.last_insert_rowid());
    Ok(())
}

/// Writes an event about a person, as part of a command.
pub(super) fn write_of_person(
    writing: &Writing<'_>,
    person: &str,
    kind: &str,
    data: &Value,
) -> Result<(), Fault> {
    writing
        .sql
        .prepare_cached("INSERT INTO events (at, person, kind, data) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![writing.now, person, kind, data.to_string()])?;
    writing.last_event.set(writing.sql.last_insert_rowid());
    Ok(())
}
