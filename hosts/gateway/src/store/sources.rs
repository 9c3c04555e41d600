//! The gateway's own part in what a channel received: answers, moves, beginnings. Each is one transaction with the offset of the source.

use std::collections::HashSet;

use rusqlite::{OptionalExtension as _, params};
use serde_json::{Value, json};

use super::damage::Fault;
use super::inbox::set_offset;
use super::origin::Origin;
use super::outbox::{self, Delivery, NewDelivery};
use super::target::Target;
use super::writer::Writing;
use super::{Store, StoreError, events, receivers};
use crate::SessionKey;

/// The longest chain of ids that is followed.
const MAX_MOVES: usize = 16;

impl Store {
    /// Answers a message of a source in the name of the gateway, once, and notes how far the source was read.
    pub(crate) async fn reply_to_source(
        &self,
        (source, offset): (String, String),
        external_id: String,
        target: Target,
        body: Value,
    ) -> Result<(), StoreError> {
        self.write(move |writing| {
            set_offset(writing, &source, &offset)?;
            outbox::prepare_once(writing, &Origin::reply(&source, &external_id), None, target, body)
        })
        .await
    }

    /// Lets the next run of a session begin a new transcript, with an answer to whoever asked for it.
    pub(crate) async fn begin_anew(
        &self,
        session: SessionKey,
        (source, offset): (String, String),
        external_id: String,
        target: Target,
        body: Value,
    ) -> Result<(), StoreError> {
        self.write(move |writing| {
            set_offset(writing, &source, &offset)?;
            let origin = Origin::reply(&source, &external_id);
            let sql = "UPDATE sessions SET begins_anew = 1 WHERE key = ?1 AND transcript IS NOT NULL";
            let begins = writing.sql.prepare_cached(sql)?.execute([&session])?;
            if begins > 0 {
                events::write(writing, session.as_str(), "session.begins_anew", &json!({}))?;
            }
            outbox::prepare_once(writing, &origin, None, target, body)
        })
        .await
    }

    /// Prepares a delivery under the name of what it is about, once.
    pub(crate) async fn show_ask(
        &self,
        id: String,
        session: Option<SessionKey>,
        target: Target,
        body: Value,
    ) -> Result<(), StoreError> {
        self.write(move |writing| {
            let origin = Origin::ask(&id, &target);
            outbox::prepare_once(writing, &origin, session.as_ref().map(SessionKey::as_str), target, body)
        })
        .await
    }

    /// Notes that a conversation has another id on its platform. What waits for it goes there.
    pub(crate) async fn move_peer(
        &self,
        (channel, account): (String, String),
        from: String,
        to: String,
        (source, offset): (String, String),
    ) -> Result<(), StoreError> {
        self.write(move |writing| {
            set_offset(writing, &source, &offset)?;
            let first = first_of(writing, &channel, &account, &from)?.unwrap_or_else(|| from.clone());
            if first != to {
                writing
                    .sql
                    .prepare_cached("INSERT OR REPLACE INTO moved_peers (channel, account, peer, first) VALUES (?1, ?2, ?3, ?4)")?
                    .execute([&channel, &account, &to, &first])?;
            }
            Ok(())
        })
        .await
    }

    /// Returns the id that a conversation had first.
    pub(crate) async fn first_peer(
        &self,
        channel: &str,
        account: &str,
        peer: &str,
    ) -> Result<String, StoreError> {
        let (channel, account, peer) = (channel.to_owned(), account.to_owned(), peer.to_owned());
        self.read(move |connection| {
            let sql = "SELECT first FROM moved_peers WHERE channel = ?1 AND account = ?2 AND peer = ?3";
            let first = connection
                .prepare_cached(sql)?
                .query_row([&channel, &account, &peer], |row| row.get(0))
                .optional()?;
            Ok(first.unwrap_or(peer))
        })
        .await
    }

    /// Prepares the parts that a call of the tool `message`, or of a tool of a platform, sends, once, and returns them in order.
    pub(crate) async fn prepare_message(
        &self,
        session: SessionKey,
        call: String,
        deliveries: Vec<NewDelivery>,
    ) -> Result<Vec<Delivery>, StoreError> {
        self.write(move |writing| {
            let origin = Origin::message(&super::ids::digest(&call));
            let before = outbox::of_origin(writing.sql, &origin)?;
            if !before.is_empty() {
                return Ok(before);
            }
            outbox::prepare(writing, &origin, Some(session.as_str()), deliveries)?;
            outbox::of_origin(writing.sql, &origin)
        })
        .await
    }

    /// Returns the parts that a call has prepared by [`prepare_message`](Self::prepare_message), in order.
    pub(crate) async fn message_of(&self, call: &str) -> Result<Vec<Delivery>, StoreError> {
        let origin = Origin::message(&super::ids::digest(call));
        self.read(move |connection| outbox::of_origin(connection, &origin)).await
    }

    /// Returns the bodies of the parts into which a body would be divided.
    pub(crate) fn divided(&self, target: &Target, body: Value) -> Vec<Value> {
        self.0.options.parts.of(target, body)
    }

    /// Prepares messages by which a person tries a channel.
    pub(crate) async fn prepare_test(
        &self,
        deliveries: Vec<NewDelivery>,
    ) -> Result<Vec<Delivery>, StoreError> {
        self.write(move |writing| {
            let origin = Origin::test()?;
            outbox::prepare(writing, &origin, None, deliveries)?;
            outbox::of_origin(writing.sql, &origin)
        })
        .await
    }

    /// Counts the parts of an account that wait to be sent.
    pub(crate) async fn waiting_deliveries(&self, channel: &str, account: &str) -> Result<u64, StoreError> {
        let (channel, account) = (channel.to_owned(), account.to_owned());
        self.read(move |connection| {
            let sql = "SELECT count(*) FROM outbox WHERE channel = ?1 AND account = ?2 AND state IN ('prepared', 'sending')";
            Ok(connection.prepare_cached(sql)?.query_row([channel, account], |row| row.get::<_, i64>(0))?.unsigned_abs())
        })
        .await
    }

    /// Returns the names of the files that parts need which wait to be sent.
    pub(crate) async fn files_that_wait(&self) -> Result<HashSet<String>, StoreError> {
        self.read(|connection| {
            let sql = "SELECT DISTINCT body ->> '$.file.stored' FROM outbox
                WHERE state IN ('prepared', 'sending') AND body ->> '$.file.stored' IS NOT NULL";
            let mut statement = connection.prepare_cached(sql)?;
            Ok(statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
        })
        .await
    }

    /// Returns where the answers of the run in flight of a session go; otherwise where those of its last message went.
    pub(crate) async fn answers_to(&self, session: SessionKey) -> Result<Option<Target>, StoreError> {
        self.read(move |connection| {
            let sql = "SELECT reply_to FROM inbox WHERE session = ?1 AND reply_to IS NOT NULL
                ORDER BY state = 'claimed' DESC, changed_at DESC, id DESC LIMIT 1";
            let target: Option<String> =
                connection.prepare_cached(sql)?.query_row(params![session], |row| row.get(0)).optional()?;
            let Some(target) = target else { return Ok(None) };
            let target: Target = serde_json::from_str(&target)?;
            Ok(receivers::is_for_session(connection, &target, &session)?.then_some(target))
        })
        .await
    }
}

fn first_of(
    writing: &Writing<'_>,
    channel: &str,
    account: &str,
    peer: &str,
) -> Result<Option<String>, Fault> {
    let sql = "SELECT first FROM moved_peers WHERE channel = ?1 AND account = ?2 AND peer = ?3";
    let mut found: Option<String> = None;
    let mut peer = peer.to_owned();
    for _ in 0..MAX_MOVES {
        let first: Option<String> = writing
            .sql
            .prepare_cached(sql)?
            .query_row([channel, account, &peer], |row| row.get(0))
            .optional()?;
        let Some(first) = first else { break };
        peer.clone_from(&first);
        found = Some(first);
    }
    Ok(found)
}

/// Lets a session begin a new transcript, if it was asked to, as part of the command that begins a run.
pub(super) fn begin_anew_if_asked(writing: &Writing<'_>, session: &SessionKey) -> Result<(), Fault> {
    let sql = "UPDATE sessions SET transcript = NULL, begins_anew = 0 WHERE key = ?1 AND begins_anew = 1";
    writing.sql.prepare_cached(sql)?.execute([session])?;
    Ok(())
}
