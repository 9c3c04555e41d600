//! The senders of chat channels: those who are people of the gateway, and strangers who wait for approval.
//!
//! ```text
//! unknown sender ──► code, once ──► approved: an identity of a person
//!        └──► turned away: three wait already, or the sender was denied or told today
//! ```

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde::Serialize;
use serde_json::{Value, json};

use super::clock::Moment;
use super::damage::Fault;
use super::origin::Origin;
use super::outbox::{self, NewDelivery};
use super::people::{self, PersonRecord, Role, no_person};
use super::target::Target;
use super::writer::Writing;
use super::{Store, StoreError, events, inbox};
use toolkit_channel::Conversation;

/// Who approved the identities that a configuration names.
pub(super) const CONFIGURATION: &str = "configuration";
/// The most unknown senders of an account who wait with a code that counts.
const MAX_PENDING: u32 = 3;
/// The most unknown senders of an account that are listed.
const MAX_STRANGERS: u32 = 200;
/// The most identities of a person.
const MAX_IDENTITIES: u32 = 32;
/// Time for which a code counts.
const CODE_WITHIN: Duration = Duration::from_hours(1);
/// Time after which a sender may get another code.
const TOLD_AGAIN: Duration = Duration::from_hours(24);
/// The longest shown name of a sender that is stored, in characters.
const MAX_SHOWN_CHARS: usize = 64;
/// The longest id of a sender, in bytes.
const MAX_SENDER_BYTES: usize = 256;

/// A sender of a channel who is a person of the gateway.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct IdentityRecord {
    /// The channel.
    pub channel: String,
    /// The platform's stable id of the sender.
    pub sender: String,
    /// The person.
    pub person: String,
    /// The name that the platform showed when the sender was approved.
    pub name: String,
    /// Who approved it.
    pub approved_by: String,
    /// When it was approved.
    pub created_at: Moment,
}

/// An unknown sender who wrote to an account directly.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Stranger {
    /// The channel.
    pub channel: String,
    /// The account.
    pub account: String,
    /// The platform's stable id of the sender.
    pub sender: String,
    /// The name that the platform shows. Anybody can choose any.
    pub name: String,
    /// When the code of the sender expires, if one counts.
    pub expires_at: Option<Moment>,
    /// When the sender was denied.
    pub denied_at: Option<Moment>,
    /// The number of messages.
    pub messages: u64,
    /// When the first one came.
    pub first_at: Moment,
    /// When the last one came.
    pub last_at: Moment,
}

/// A message of an unknown sender in a direct conversation.
#[derive(Debug, Clone)]
pub(crate) struct StrangersMessage {
    pub(crate) sender: String,
    pub(crate) name: String,
    /// Where a code goes.
    pub(crate) target: Target,
    /// The source with its new offset.
    pub(crate) source: String,
    pub(crate) offset: String,
    /// The digest of the code that the sender gets, if they get one.
    pub(crate) code: String,
    /// The message with that code, as the channel sends it.
    pub(crate) body: Value,
}

/// The outcome of a message of an unknown sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TurnedAway {
    /// A code is on its way.
    WithCode,
    /// Nothing is.
    Silently,
}

/// How a stranger is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum StrangerName {
    /// By the digest of the code.
    Code(String),
    /// By the platform's id of the sender, of a channel or of any.
    Sender {
        /// The channel.
        channel: Option<String>,
        /// The sender.
        sender: String,
    },
}

/// Whom an approved sender becomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Becomes {
    /// A person who is there.
    Person(String),
    /// A new person with this role, who talks to this agent, named after the sender if no name is given.
    New { name: Option<String>, role: Role, agent: String },
}

const COLUMNS: &str = "channel, sender, person, name, approved_by, created_at";
const OF_STRANGER: &str =
    "channel, account, sender, name, expires_at, denied_at, messages, first_at, last_at";

fn of_row(row: &Row<'_>) -> rusqlite::Result<IdentityRecord> {
    Ok(IdentityRecord {
        channel: row.get(0)?,
        sender: row.get(1)?,
        person: row.get(2)?,
        name: row.get(3)?,
        approved_by: row.get(4)?,
        created_at: row.get(5)?,
    })
}

fn stranger_of_row(row: &Row<'_>) -> rusqlite::Result<Stranger> {
    Ok(Stranger {
        channel: row.get(0)?,
        account: row.get(1)?,
        sender: row.get(2)?,
        name: row.get(3)?,
        expires_at: row.get(4)?,
        denied_at: row.get(5)?,
        messages: row.get::<_, i64>(6)?.unsigned_abs(),
        first_at: row.get(7)?,
        last_at: row.get(8)?,
    })
}

impl Store {
    /// Returns the person who stands behind a sender of a channel, blocked or not.
    pub async fn person_of_sender(
        &self,
        channel: &str,
        sender: &str,
    ) -> Result<Option<PersonRecord>, StoreError> {
        let (channel, sender) = (channel.to_owned(), sender.to_owned());
        self.read(move |connection| match person_of(connection, &channel, &sender)? {
            Some(person) => people::found(connection, &person),
            None => Ok(None),
        })
        .await
    }

    /// Lists the identities of a person, or of all.
    pub async fn identities(&self, person: Option<String>) -> Result<Vec<IdentityRecord>, StoreError> {
        self.read(move |connection| {
            let sql = format!(
                "SELECT {COLUMNS} FROM identities WHERE ?1 IS NULL OR person = ?1 ORDER BY person, channel, sender"
            );
            let mut statement = connection.prepare_cached(&sql)?;
            Ok(statement.query_map([person], of_row)?.collect::<Result<_, _>>()?)
        })
        .await
    }

    /// Lists the unknown senders, those with a code that counts first.
    pub async fn strangers(&self) -> Result<Vec<Stranger>, StoreError> {
        let now = self.clock().now();
        self.read(move |connection| {
            let sql = format!(
                "SELECT {OF_STRANGER} FROM strangers
                 ORDER BY coalesce(expires_at, 0) <= ?1, last_at DESC, channel, account, sender"
            );
            let mut statement = connection.prepare_cached(&sql)?;
            let found = statement.query_map([now], stranger_of_row)?;
            let of_now = |mut stranger: Stranger| {
                stranger.expires_at = stranger.expires_at.filter(|at| *at > now);
                stranger
            };
            Ok(found.map(|stranger| stranger.map(of_now)).collect::<Result<_, _>>()?)
        })
        .await
    }

    /// Notes a message of an unknown sender, how far its source was read, and the code that they get, if they get one.
    pub(crate) async fn turn_away(&self, message: StrangersMessage) -> Result<TurnedAway, StoreError> {
        self.write(move |writing| turn_away(writing, message)).await
    }

    /// Makes an unknown sender an identity of a person. Returns it, or `None` if there is no such sender, or the code counts no more.
    ///
    /// # Errors
    ///
    /// The name fits several senders, or the person cannot have the identity.
    pub(crate) async fn approve_stranger(
        &self,
        name: StrangerName,
        becomes: Becomes,
        by: String,
    ) -> Result<Option<(PersonRecord, IdentityRecord)>, StoreError> {
        self.write(move |writing| {
            let Some(stranger) = stranger(writing, &name)? else { return Ok(None) };
            let person = person_for(writing, &stranger, becomes)?;
            let identity = add_identity(writing, &stranger, &person, &by)?;
            let welcome = json!({ "text": "You are let in. Write what you want; /help lists the commands." });
            let target = Target::new(
                &stranger.channel,
                &stranger.account,
                Conversation::direct(&*stranger.sender).to_string(),
            );
            let origin = Origin::welcome(&stranger.channel, &stranger.sender, writing.now);
            outbox::prepare(writing, &origin, None, vec![NewDelivery::new(target, welcome)])?;
            Ok(Some((person, identity)))
        })
        .await
    }

    /// Turns an unknown sender away for good: they get no code any more. Returns them, or `None` if there are none.
    ///
    /// # Errors
    ///
    /// The name fits several senders.
    pub(crate) async fn deny_stranger(&self, name: StrangerName) -> Result<Option<Stranger>, StoreError> {
        self.write(move |writing| {
            let Some(stranger) = stranger(writing, &name)? else { return Ok(None) };
            writing
                .sql
                .prepare_cached(
                    "UPDATE strangers SET denied_at = ?3, code = NULL, expires_at = NULL WHERE channel = ?1 AND sender = ?2",
                )?
                .execute(params![stranger.channel, stranger.sender, writing.now])?;
            Ok(Some(Stranger { denied_at: Some(writing.now), expires_at: None, ..stranger }))
        })
        .await
    }

    /// Takes an identity from its person: from then on the sender is unknown. Returns false if there is none.
    ///
    /// # Errors
    ///
    /// The configuration names it.
    pub async fn remove_identity(&self, channel: String, sender: String) -> Result<bool, StoreError> {
        self.write(move |writing| {
            let Some(person) = person_of(writing.sql, &channel, &sender)? else { return Ok(false) };
            let is_named = approved_by(writing.sql, CONFIGURATION)?
                .iter()
                .any(|identity| identity.channel == channel && identity.sender == sender);
            if is_named {
                return Err(Fault::Refused(format!(
                    "the configuration names `{channel}:{sender}`: take it out of `people.{person}.identities`"
                )));
            }
            remove(writing, &channel, &sender, &person)?;
            Ok(true)
        })
        .await
    }
}

pub(super) fn person_of(
    connection: &Connection,
    channel: &str,
    sender: &str,
) -> Result<Option<String>, Fault> {
    let sql = "SELECT person FROM identities WHERE channel = ?1 AND sender = ?2";
    Ok(connection.prepare_cached(sql)?.query_row([channel, sender], |row| row.get(0)).optional()?)
}

/// The standing of a sender who is known already.
struct Known {
    counts_until: Option<Moment>,
    told_at: Option<Moment>,
    denied_at: Option<Moment>,
}

fn turn_away(writing: &Writing<'_>, message: StrangersMessage) -> Result<TurnedAway, Fault> {
    let StrangersMessage { sender, name, target, source, offset, code, body } = message;
    inbox::set_offset(writing, &source, &offset)?;
    if sender.is_empty() || sender.len() > MAX_SENDER_BYTES {
        return Ok(TurnedAway::Silently);
    }
    let name: String = name.chars().filter(|char| !char.is_control()).take(MAX_SHOWN_CHARS).collect();
    let (channel, account) = (&target.channel, &target.account);
    let known = writing
        .sql
        .prepare_cached(
            "SELECT max(expires_at), max(told_at), max(denied_at) FROM strangers WHERE channel = ?1 AND sender = ?2",
        )?
        .query_row([channel, &sender], |row| {
            Ok(Known { counts_until: row.get(0)?, told_at: row.get(1)?, denied_at: row.get(2)? })
        })
        .optional()?;
    writing
        .sql
        .prepare_cached(
            "INSERT INTO strangers (channel, account, sender, name, messages, first_at, last_at) VALUES (?1, ?2, ?3, ?4, 1, ?5, ?5)
             ON CONFLICT DO UPDATE SET name = excluded.name, messages = messages + 1, last_at = excluded.last_at",
        )?
        .execute(params![channel, account, sender, name, writing.now])?;
    remove_oldest(writing, channel, account)?;
    let waits = |known: &Known| known.counts_until.is_some_and(|until| until > writing.now);
    let was_told = |known: &Known| known.told_at.is_some_and(|at| writing.now < at.after(TOLD_AGAIN));
    if known.is_some_and(|known| known.denied_at.is_some() || waits(&known) || was_told(&known)) {
        return Ok(TurnedAway::Silently);
    }
    let sql = "SELECT count(*) FROM strangers WHERE channel = ?1 AND account = ?2 AND expires_at > ?3";
    let pending: u32 = writing
        .sql
        .prepare_cached(sql)?
        .query_row(params![channel, account, writing.now], |row| row.get(0))?;
    if pending >= MAX_PENDING {
        return Ok(TurnedAway::Silently);
    }
    let told = writing
        .sql
        .prepare_cached(
            "UPDATE strangers SET code = ?4, expires_at = ?5, told_at = ?6 WHERE channel = ?1 AND account = ?2 AND sender = ?3",
        )?
        .execute(params![channel, account, sender, code, writing.now.after(CODE_WITHIN), writing.now])?;
    // One whom the list has no place for is known to nobody, and would get a code with each message.
    if told == 0 {
        return Ok(TurnedAway::Silently);
    }
    let origin = Origin::code(&code);
    let delivery = NewDelivery::new(target.clone(), body).with_expiry(CODE_WITHIN);
    outbox::prepare(writing, &origin, None, vec![delivery])?;
    if let Some(owner) = people::owner(writing.sql)? {
        let data = json!({ "channel": channel, "account": account, "sender": sender, "name": name });
        events::write_of_person(writing, &owner, "stranger.waits", &data)?;
    }
    Ok(TurnedAway::WithCode)
}

/// Keeps the list of an account within its bound: those who have neither a code nor were denied go first, and of them those who wrote
/// longest ago.
fn remove_oldest(writing: &Writing<'_>, channel: &str, account: &str) -> Result<(), Fault> {
    writing
        .sql
        .prepare_cached(
            "DELETE FROM strangers WHERE channel = ?1 AND account = ?2 AND sender IN (
                 SELECT sender FROM strangers WHERE channel = ?1 AND account = ?2
                 ORDER BY coalesce(expires_at, 0) > ?3 DESC, coalesce(told_at, 0) > ?5 DESC, denied_at IS NOT NULL DESC, last_at DESC, sender
                 LIMIT -1 OFFSET ?4
             )",
        )?
        .execute(params![channel, account, writing.now, MAX_STRANGERS, writing.now.before(TOLD_AGAIN)])?;
    Ok(())
}

fn stranger(writing: &Writing<'_>, name: &StrangerName) -> Result<Option<Stranger>, Fault> {
    let select = |condition: &str, values: &[&dyn rusqlite::ToSql]| -> Result<Vec<Stranger>, Fault> {
        let sql = format!("SELECT {OF_STRANGER} FROM strangers WHERE {condition} ORDER BY last_at DESC");
        let mut statement = writing.sql.prepare_cached(&sql)?;
        Ok(statement.query_map(values, stranger_of_row)?.collect::<Result<_, _>>()?)
    };
    match name {
        StrangerName::Code(digest) => {
            Ok(select("code = ?1 AND expires_at > ?2", &[digest, &writing.now])?.into_iter().next())
        }
        StrangerName::Sender { channel, sender } => {
            let found = select("sender = ?1 AND (?2 IS NULL OR channel = ?2)", &[sender, channel])?;
            let mut channels: Vec<&str> = found.iter().map(|stranger| &*stranger.channel).collect();
            channels.sort_unstable();
            channels.dedup();
            if channels.len() > 1 {
                let channels = channels.join("` and `");
                return Err(Fault::Refused(format!(
                    "`{sender}` wrote on `{channels}`: name the channel, as in `CHANNEL:{sender}`"
                )));
            }
            Ok(found.into_iter().next())
        }
    }
}

fn person_for(writing: &Writing<'_>, stranger: &Stranger, becomes: Becomes) -> Result<PersonRecord, Fault> {
    match becomes {
        Becomes::Person(name) => {
            let person = people::found(writing.sql, &name)?.ok_or_else(|| no_person(&name))?;
            if person.blocked_at.is_some() {
                return Err(Fault::Refused(format!("`{name}` is blocked; unblock them first")));
            }
            Ok(person)
        }
        Becomes::New { role: Role::Owner, .. } => Err(Fault::Refused(
            "there is one owner: approve the sender as the owner, or with the role `approver` or `user`"
                .to_owned(),
        )),
        Becomes::New { name: Some(name), role, agent } => {
            if people::found(writing.sql, &name)?.is_some() {
                return Err(Fault::Refused(format!(
                    "there is a person `{name}` already; give the sender to them with `--person {name}`, without a role"
                )));
            }
            people::add(writing, &name, role, &agent)
        }
        Becomes::New { name: None, role, agent } => {
            let name = free_name(writing, stranger)?;
            people::add(writing, &name, role, &agent)
        }
    }
}

/// A name of a person that is made of the shown one, and nobody has.
fn free_name(writing: &Writing<'_>, stranger: &Stranger) -> Result<String, Fault> {
    let shown = stranger.name.to_lowercase();
    let words: Vec<&str> =
        shown.split(|char: char| !char.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let mut base: String = words.join("-").chars().take(32).collect();
    if base.is_empty() {
        base = format!("{}-{}", stranger.channel, stranger.sender)
            .chars()
            .filter(|char| char.is_ascii_alphanumeric() || *char == '-')
            .take(48)
            .collect();
    }
    for number in 1..=1_000_u32 {
        let name = if number == 1 { base.clone() } else { format!("{base}-{number}") };
        if people::found(writing.sql, &name)?.is_none() {
            return Ok(name);
        }
    }
    Err(Fault::Refused(format!("a thousand people are called `{base}`; name this one with `--name`")))
}

fn add_identity(
    writing: &Writing<'_>,
    stranger: &Stranger,
    person: &PersonRecord,
    by: &str,
) -> Result<IdentityRecord, Fault> {
    let identity = IdentityRecord {
        channel: stranger.channel.clone(),
        sender: stranger.sender.clone(),
        person: person.name.clone(),
        name: stranger.name.clone(),
        approved_by: by.to_owned(),
        created_at: writing.now,
    };
    add(writing, &identity)?;
    Ok(identity)
}

/// Gives a person an identity, as part of a command. The sender is no stranger any more.
pub(super) fn add(writing: &Writing<'_>, identity: &IdentityRecord) -> Result<(), Fault> {
    let IdentityRecord { channel, sender, person, name, approved_by, created_at } = identity;
    let sql = "SELECT count(*) FROM identities WHERE person = ?1";
    let count: u32 = writing.sql.prepare_cached(sql)?.query_row([person], |row| row.get(0))?;
    if count >= MAX_IDENTITIES {
        return Err(Fault::Refused(format!(
            "`{person}` has {MAX_IDENTITIES} identities, which is the limit"
        )));
    }
    if let Some(other) = person_of(writing.sql, channel, sender)? {
        return Err(Fault::Refused(format!("the sender is `{other}` already")));
    }
    writing
        .sql
        .prepare_cached(&format!("INSERT INTO identities ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6)"))?
        .execute(params![channel, sender, person, name, approved_by, created_at])?;
    let sql = "DELETE FROM strangers WHERE channel = ?1 AND sender = ?2";
    writing.sql.prepare_cached(sql)?.execute([channel, sender])?;
    let data = json!({ "person": person, "channel": channel, "approvedBy": approved_by });
    events::write_of_person(writing, person, "identity.added", &data)
}

/// Takes an identity from its person, as part of a command.
pub(super) fn remove(writing: &Writing<'_>, channel: &str, sender: &str, person: &str) -> Result<(), Fault> {
    let sql = "DELETE FROM identities WHERE channel = ?1 AND sender = ?2";
    writing.sql.prepare_cached(sql)?.execute([channel, sender])?;
    let data = json!({ "person": person, "channel": channel });
    events::write_of_person(writing, person, "identity.removed", &data)
}

/// Returns the identities that somebody approved.
pub(super) fn approved_by(connection: &Connection, by: &str) -> Result<Vec<IdentityRecord>, Fault> {
    let sql = format!("SELECT {COLUMNS} FROM identities WHERE approved_by = ?1");
    let mut statement = connection.prepare_cached(&sql)?;
    Ok(statement.query_map([by], of_row)?.collect::<Result<_, _>>()?)
}
