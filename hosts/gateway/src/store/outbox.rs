//! The outbox: what leaves through a channel, each part delivered at most once.
//!
//! ```text
//! prepared ──► sending ──► delivered
//!    ▲            ├──────► unknown     a crash came before the outcome was stored, and the platform cannot tell
//!    └────────────┤
//!     not sent    └──────► dead        refused, or expired
//! ```

use std::time::Duration;

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::clock::Moment;
use super::damage::Fault;
use super::ids::RunId;
use super::inbox::Message;
use super::named::named;
use super::origin::Origin;
use super::target::{LOCAL_CHANNEL, Target};
use super::visible::visible;
use super::writer::Writing;
use super::{Store, StoreError, events, people, receivers};
use crate::{SessionKey, fail_points};

/// The longest body of a delivery, in bytes of its JSON.
const MAX_BODY_BYTES: usize = 1 << 20;
/// The most deliveries that one reading returns.
const MAX_LISTED: u32 = 1_000;
/// Time after which a delivery that could not be sent is dead, if nothing else was said.
const EXPIRY: Duration = Duration::from_hours(24);

/// One part to deliver.
#[derive(Debug, Clone, PartialEq)]
pub struct NewDelivery {
    target: Target,
    body: Value,
    expires_in: Duration,
}

impl NewDelivery {
    /// A part that expires after 24 hours.
    pub fn new(target: Target, body: Value) -> Self {
        Self { target, body, expires_in: EXPIRY }
    }

    /// The answer to a message, where it has somewhere to go.
    pub(crate) fn answer(message: &Message, text: &str, outcome: &str) -> Vec<Self> {
        let body = json!({ "text": text, "outcome": outcome });
        message.reply_to.clone().map(|target| Self::new(target, body)).into_iter().collect()
    }

    /// Sets how long it may wait.
    #[must_use]
    pub fn with_expiry(mut self, after: Duration) -> Self {
        self.expires_in = after;
        self
    }
}

/// How far a delivery is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeliveryState {
    /// It waits.
    Prepared,
    /// It is on its way, or was when the process ended.
    Sending,
    /// It arrived.
    Delivered,
    /// Nobody knows: it is shown, and never sent again by itself.
    Unknown,
    /// It will not be sent.
    Dead,
}

named!(DeliveryState {
    Prepared = "prepared",
    Sending = "sending",
    Delivered = "delivered",
    Unknown = "unknown",
    Dead = "dead"
});

/// One part that leaves.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Delivery {
    /// Its number.
    pub id: i64,
    /// A key under which a platform that has such keys sends it once.
    pub key: String,
    /// The session from which it comes.
    pub session: Option<SessionKey>,
    /// Where it goes.
    pub target: Target,
    /// Its content.
    pub body: Value,
    /// How far it is.
    pub state: DeliveryState,
    /// How often it was tried.
    pub attempts: u32,
    /// It is not tried before.
    pub not_before: Moment,
    /// It is not tried after.
    pub expires_at: Moment,
    /// Why it is where it is.
    pub reason: Option<String>,
    /// The platform's own id of it.
    pub receipt: Option<String>,
    /// When it was prepared.
    pub created_at: Moment,
}

/// How many of the kept deliveries are in each state.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct DeliveryCounts {
    /// They wait.
    pub prepared: u64,
    /// They are on their way.
    pub sending: u64,
    /// They arrived.
    pub delivered: u64,
    /// Nobody knows.
    pub unknown: u64,
    /// They will not be sent.
    pub dead: u64,
}

impl DeliveryCounts {
    pub(super) fn set(&mut self, state: DeliveryState, count: u64) {
        *match state {
            DeliveryState::Prepared => &mut self.prepared,
            DeliveryState::Sending => &mut self.sending,
            DeliveryState::Delivered => &mut self.delivered,
            DeliveryState::Unknown => &mut self.unknown,
            DeliveryState::Dead => &mut self.dead,
        } = count;
    }
}

/// Which deliveries to list.
#[derive(Debug, Clone, Default)]
pub struct DeliveryFilter {
    /// In this state alone.
    pub state: Option<DeliveryState>,
    /// Of the sessions that this person sees alone.
    pub seen_by: Option<String>,
    /// Older than the one with this number alone.
    pub before: Option<i64>,
    /// At most so many, and at most 1,000.
    pub limit: u32,
}

const COLUMNS: &str = "id, origin || '/' || part, session, channel, account, conversation, body, state, attempts, not_before, expires_at,
    reason, receipt, created_at";

fn of_row(row: &Row<'_>) -> Result<Delivery, Fault> {
    Ok(Delivery {
        id: row.get(0)?,
        key: row.get(1)?,
        session: row.get(2)?,
        target: Target { channel: row.get(3)?, account: row.get(4)?, conversation: row.get(5)? },
        body: serde_json::from_str(&row.get::<_, String>(6)?)?,
        state: row.get(7)?,
        attempts: row.get(8)?,
        not_before: row.get(9)?,
        expires_at: row.get(10)?,
        reason: row.get(11)?,
        receipt: row.get(12)?,
        created_at: row.get(13)?,
    })
}

fn select(connection: &Connection, condition: &str, values: &[&dyn ToSql]) -> Result<Vec<Delivery>, Fault> {
    let mut statement =
        connection.prepare_cached(&format!("SELECT {COLUMNS} FROM outbox WHERE {condition}"))?;
    let mut rows = statement.query(values)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(of_row(row)?);
    }
    Ok(found)
}

/// The parts of an account that wait, each the first of its conversation.
const IS_FIRST: &str = "channel = ?1 AND account = ?2 AND state = 'prepared'
    AND NOT EXISTS (
        SELECT 1 FROM outbox AS earlier
        WHERE earlier.channel = outbox.channel AND earlier.account = outbox.account
          AND earlier.conversation = outbox.conversation AND earlier.state = 'prepared' AND earlier.id < outbox.id
    )
    AND NOT EXISTS (
        SELECT 1 FROM outbox AS sending
        WHERE sending.channel = outbox.channel AND sending.account = outbox.account
          AND sending.conversation = outbox.conversation AND sending.state = 'sending'
    )";

impl Store {
    /// Prepares what a call of a tool sends. Its id is the transcript, the answer of the model and the call: a call that is repeated after a
    /// crash finds its parts, and prepares none. Returns them in order.
    pub async fn prepare_for_call(
        &self,
        session: SessionKey,
        transcript: &str,
        answer: &str,
        call: &str,
        deliveries: Vec<NewDelivery>,
    ) -> Result<Vec<Delivery>, StoreError> {
        let origin = Origin::call(transcript, answer, call);
        self.write(move |writing| {
            let before = of_origin(writing.sql, &origin)?;
            if !before.is_empty() {
                return Ok(before);
            }
            prepare(writing, &origin, Some(session.as_str()), deliveries)?;
            of_origin(writing.sql, &origin)
        })
        .await
    }

    /// Takes the next part that an account may send now, and stores that it is on its way, before its first byte leaves. Parts of one
    /// conversation go one after the other; those that have waited too long die.
    pub async fn next_delivery(&self, channel: &str, account: &str) -> Result<Option<Delivery>, StoreError> {
        let (channel, account) = (channel.to_owned(), account.to_owned());
        let next = self
            .write(move |writing| {
                let late = "channel = ?1 AND account = ?2 AND state = 'prepared' AND expires_at <= ?3 ORDER BY id LIMIT 100";
                expire(writing, late, params![channel, account, writing.now])?;
                let first = format!("{IS_FIRST} AND not_before <= ?3 AND expires_at > ?3 ORDER BY id LIMIT 1");
                let mut next = loop {
                    let mut found = select(writing.sql, &first, params![channel, account, writing.now])?;
                    let Some(next) = found.pop() else { return Ok(None) };
                    let is_answer = next.key.starts_with("run/") || next.key.starts_with("fire/");
                    if receivers::is_reachable(writing.sql, &next.target, next.session.as_ref(), is_answer)? {
                        break next;
                    }
                    die(writing, next.id, next.session.as_ref(), "its receiver may not be written to any more")?;
                    end_rest(writing, next.id)?;
                };
                next.state = DeliveryState::Sending;
                next.attempts += 1;
                writing
                    .sql
                    .prepare_cached(
                        "UPDATE outbox SET state = 'sending', attempts = ?2, changed_at = ?3 WHERE id = ?1",
                    )?
                    .execute(params![next.id, next.attempts, writing.now])?;
                Ok(Some(next))
            })
            .await?;
        if next.is_some() {
            fail_points::pass("before_send");
        }
        Ok(next)
    }

    /// Returns the time at which the next part of an account may be sent; `None` if none waits that is not behind one on its way.
    pub async fn next_delivery_at(&self, channel: &str, account: &str) -> Result<Option<Moment>, StoreError> {
        let (channel, account) = (channel.to_owned(), account.to_owned());
        self.read(move |connection| {
            let sql = format!("SELECT min(not_before) FROM outbox WHERE {IS_FIRST}");
            Ok(connection.prepare_cached(&sql)?.query_row([channel, account], |row| row.get(0))?)
        })
        .await
    }

    /// Stores that a part arrived, with the platform's own id of it.
    pub async fn delivered(&self, id: i64, receipt: Option<String>) -> Result<(), StoreError> {
        fail_points::pass("after_send_before_mark");
        self.write(move |writing| end(writing, id, DeliveryState::Delivered, None, receipt.as_deref())).await
    }

    /// Stores that a part was certainly not sent, and is tried again at a time.
    pub async fn not_sent(&self, id: i64, reason: String, not_before: Moment) -> Result<(), StoreError> {
        self.write(move |writing| {
            let changed = writing
                .sql
                .prepare_cached(
                    "UPDATE outbox SET state = 'prepared', reason = ?2, not_before = ?3, changed_at = ?4
                     WHERE id = ?1 AND state = 'sending'",
                )?
                .execute(params![id, reason, not_before, writing.now])?;
            if changed == 0 { Err(not_sending(id)) } else { Ok(()) }
        })
        .await
    }

    /// Stores that nobody knows whether a part arrived.
    pub async fn unknown(&self, id: i64, reason: String) -> Result<(), StoreError> {
        self.write(move |writing| end(writing, id, DeliveryState::Unknown, Some(&reason), None)).await
    }

    /// Stores that a part was refused for good. What follows it in the same answer is dead, too.
    pub async fn dead(&self, id: i64, reason: String) -> Result<(), StoreError> {
        self.write(move |writing| {
            end(writing, id, DeliveryState::Dead, Some(&reason), None)?;
            end_rest(writing, id)
        })
        .await
    }

    /// Settles, at start, what was on its way when the process ended, for one account: where the platform has idempotency keys it is sent
    /// again under its key, elsewhere it is unknown. Returns how many there were.
    pub async fn settle_sending(
        &self,
        channel: &str,
        account: &str,
        has_idempotency_keys: bool,
    ) -> Result<u64, StoreError> {
        let (channel, account) = (channel.to_owned(), account.to_owned());
        self.write(move |writing| {
            let on_their_way = "channel = ?1 AND account = ?2 AND state = 'sending' ORDER BY id";
            let found = select(writing.sql, on_their_way, params![channel, account])?;
            for delivery in &found {
                if has_idempotency_keys {
                    writing
                        .sql
                        .prepare_cached(
                            "UPDATE outbox SET state = 'prepared', changed_at = ?2 WHERE id = ?1",
                        )?
                        .execute(params![delivery.id, writing.now])?;
                } else {
                    let reason = "the process ended while it was being sent";
                    end(writing, delivery.id, DeliveryState::Unknown, Some(reason), None)?;
                }
            }
            Ok(found.len() as u64)
        })
        .await
    }

    /// Settles, at start, what was on its way for accounts other than these: nobody sends for them any more, so it is unknown. Returns how
    /// many there were.
    pub async fn settle_others(&self, configured: Vec<(String, String)>) -> Result<u64, StoreError> {
        self.write(move |writing| {
            let found = select(writing.sql, "state = 'sending' ORDER BY id", &[])?;
            let mut settled = 0;
            for delivery in found {
                let target = &delivery.target;
                let is_its = |(channel, account): &(String, String)| {
                    *channel == target.channel && *account == target.account
                };
                if !configured.iter().any(is_its) {
                    let reason = "the process ended while it was being sent, and its account is gone";
                    end(writing, delivery.id, DeliveryState::Unknown, Some(reason), None)?;
                    settled += 1;
                }
            }
            Ok(settled)
        })
        .await
    }

    /// Marks everything that was not sent as unknown, ends the runs in flight as failed, and removes questions, tokens, nodes and identities: after a backup was put
    /// back, all of that may have been sent, have ended, or have been answered or revoked since the backup was made. Returns how many deliveries
    /// there were.
    pub async fn settle_restored(&self) -> Result<u64, StoreError> {
        self.write(|writing| {
            writing.sql.execute(
                "UPDATE inbox SET state = CASE WHEN id = (SELECT message FROM runs WHERE runs.id = inbox.run) THEN 'consumed' ELSE 'queued' END,
                     changed_at = ?1 WHERE state = 'claimed'",
                [writing.now],
            )?;
            // They may have been answered, revoked or blocked since.
            writing.sql.execute("DELETE FROM asks", [])?;
            writing.sql.execute("DELETE FROM tokens", [])?;
            writing.sql.execute("DELETE FROM nodes", [])?;
            // They may have been answered since, and their people blocked.
            writing.sql.execute(
                "UPDATE inbox SET state = 'cancelled', run = NULL, changed_at = ?1
                 WHERE state = 'queued' AND kind = 'message' AND json_extract(reply_to, '$.channel') <> ?2",
                params![writing.now, LOCAL_CHANNEL],
            )?;
            writing.sql.execute("DELETE FROM identities", [])?;
            writing.sql.execute("UPDATE strangers SET code = NULL, expires_at = NULL", [])?;
            writing.sql.execute(
                "UPDATE runs SET state = 'failed', reason = 'it was in flight when the backup was made that was put back', ended_at = ?1
                 WHERE ended_at IS NULL",
                [writing.now],
            )?;
            let changed = writing.sql.execute(
                "UPDATE outbox SET state = 'unknown', reason = 'it waited when the backup was made that was put back', changed_at = ?1
                 WHERE state IN ('prepared', 'sending')",
                [writing.now],
            )?;
            Ok(changed as u64)
        })
        .await
    }

    /// Returns a delivery.
    pub async fn delivery(&self, id: i64) -> Result<Option<Delivery>, StoreError> {
        self.read(move |connection| Ok(select(connection, "id = ?1", params![id])?.pop())).await
    }

    /// Returns the parts that a run prepared, in order.
    pub async fn deliveries_of(&self, run: &RunId) -> Result<Vec<Delivery>, StoreError> {
        let origin = Origin::run(run);
        self.read(move |connection| of_origin(connection, &origin)).await
    }

    /// Returns deliveries in a state, the newest first.
    pub async fn deliveries(&self, state: DeliveryState, limit: u32) -> Result<Vec<Delivery>, StoreError> {
        self.read(move |connection| {
            select(connection, "state = ?1 ORDER BY id DESC LIMIT ?2", params![state, limit])
        })
        .await
    }

    /// Lists deliveries, the newest first.
    pub async fn list_deliveries(&self, filter: DeliveryFilter) -> Result<Vec<Delivery>, StoreError> {
        self.read(move |connection| {
            let condition =
                "(?1 IS NULL OR state = ?1) AND (?2 IS NULL OR session IN (SELECT key FROM visible))
                AND (?3 IS NULL OR id < ?3) ORDER BY id DESC LIMIT ?4";
            let sql =
                format!("WITH RECURSIVE {} SELECT {COLUMNS} FROM outbox WHERE {condition}", visible("?2"));
            let limit = filter.limit.min(MAX_LISTED);
            let mut statement = connection.prepare_cached(&sql)?;
            let mut rows = statement.query(params![filter.state, filter.seen_by, filter.before, limit])?;
            let mut found = Vec::new();
            while let Some(row) = rows.next()? {
                found.push(of_row(row)?);
            }
            Ok(found)
        })
        .await
    }

    /// Counts deliveries by state.
    pub async fn delivery_counts(&self) -> Result<DeliveryCounts, StoreError> {
        Ok(self.counts(None).await?.outbox)
    }
}

/// Prepares parts, as part of a command.
pub(super) fn prepare(
    writing: &Writing<'_>,
    origin: &Origin,
    session: Option<&str>,
    deliveries: Vec<NewDelivery>,
) -> Result<(), Fault> {
    let divided = deliveries.into_iter().flat_map(|delivery| {
        let NewDelivery { target, body, expires_in } = delivery;
        let bodies = writing.parts.of(&target, body);
        bodies.into_iter().map(move |body| NewDelivery { target: target.clone(), body, expires_in })
    });
    for (part, delivery) in divided.enumerate() {
        let body = delivery.body.to_string();
        if body.len() > MAX_BODY_BYTES {
            return Err(Fault::Refused(format!(
                "a delivery has {} bytes as JSON, and the limit is {MAX_BODY_BYTES}; send large content as a file",
                body.len()
            )));
        }
        let Target { channel, account, conversation } = delivery.target;
        let part = i64::try_from(part).unwrap_or(i64::MAX);
        writing
            .sql
            .prepare_cached(
                "INSERT INTO outbox (origin, part, session, channel, account, conversation, body, state, not_before, expires_at, created_at,
                     changed_at)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, 'prepared', ?8, ?9, ?8, ?8)",
            )?
            .execute(params![
                origin.as_str(),
                part,
                session,
                channel,
                account,
                conversation,
                body,
                writing.now,
                writing.now.after(delivery.expires_in)
            ])?;
        let data = json!({ "delivery": writing.sql.last_insert_rowid() });
        // Whoever sends waits for the event. The gateway's own words are of no session.
        match (session, people::owner(writing.sql)?) {
            (Some(session), _) => events::write(writing, session, "delivery.prepared", &data)?,
            (None, Some(owner)) => events::write_of_person(writing, &owner, "delivery.prepared", &data)?,
            (None, None) => {}
        }
    }
    Ok(())
}

/// Returns the parts of an origin, in order.
pub(super) fn of_origin(connection: &Connection, origin: &Origin) -> Result<Vec<Delivery>, Fault> {
    select(connection, "origin = ?1 ORDER BY part", params![origin.as_str()])
}

/// Prepares one delivery, as part of a command, unless it was prepared before.
pub(super) fn prepare_once(
    writing: &Writing<'_>,
    origin: &Origin,
    session: Option<&str>,
    target: Target,
    body: Value,
) -> Result<(), Fault> {
    let sql = "SELECT EXISTS (SELECT 1 FROM outbox WHERE origin = ?1)";
    if writing.sql.prepare_cached(sql)?.query_row([origin.as_str()], |row| row.get(0))? {
        return Ok(());
    }
    prepare(writing, origin, session, vec![NewDelivery::new(target, body)])
}

fn not_sending(id: i64) -> Fault {
    Fault::Refused(format!("the delivery {id} is not on its way"))
}

/// Moves a part that was on its way to its last state.
fn end(
    writing: &Writing<'_>,
    id: i64,
    state: DeliveryState,
    reason: Option<&str>,
    receipt: Option<&str>,
) -> Result<(), Fault> {
    let session: Option<Option<String>> = writing
        .sql
        .prepare_cached(
            "UPDATE outbox SET state = ?2, reason = ?3, receipt = ?4, changed_at = ?5 WHERE id = ?1 AND state = 'sending'
             RETURNING session",
        )?
        .query_row(params![id, state, reason, receipt, writing.now], |row| row.get(0))
        .optional()?;
    match session {
        None => Err(not_sending(id)),
        Some(None) => Ok(()),
        Some(Some(session)) => {
            let data = json!({ "delivery": id, "state": state, "reason": reason });
            events::write(writing, &session, "delivery.ended", &data)
        }
    }
}

fn die(writing: &Writing<'_>, id: i64, session: Option<&SessionKey>, reason: &str) -> Result<(), Fault> {
    writing
        .sql
        .prepare_cached("UPDATE outbox SET state = 'dead', reason = ?2, changed_at = ?3 WHERE id = ?1")?
        .execute(params![id, reason, writing.now])?;
    if let Some(session) = session {
        let data = json!({ "delivery": id, "state": DeliveryState::Dead, "reason": reason });
        events::write(writing, session.as_str(), "delivery.ended", &data)?;
    }
    Ok(())
}

/// Ends what follows a part in the same answer: half of it would mislead.
fn end_rest(writing: &Writing<'_>, id: i64) -> Result<(), Fault> {
    let rest =
        "origin = (SELECT origin FROM outbox WHERE id = ?1) AND id > ?1 AND state = 'prepared' ORDER BY id";
    for part in select(writing.sql, rest, params![id])? {
        die(writing, part.id, part.session.as_ref(), "an earlier part of the same answer was not sent")?;
    }
    Ok(())
}

/// Lets parts die that have waited too long. Returns how many these were.
pub(super) fn expire(writing: &Writing<'_>, late: &str, values: &[&dyn ToSql]) -> Result<usize, Fault> {
    let late = select(writing.sql, late, values)?;
    for part in &late {
        let reason = match &part.reason {
            Some(reason) => format!("it expired; the last try: {reason}"),
            None => "it expired before it could be sent".to_owned(),
        };
        die(writing, part.id, part.session.as_ref(), &reason)?;
        end_rest(writing, part.id)?;
    }
    Ok(late.len())
}
