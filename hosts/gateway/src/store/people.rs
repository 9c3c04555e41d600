//! People: who may use the gateway, and with which role.

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::clock::Moment;
use super::damage::Fault;
use super::ids::MessageId;
use super::named::named;
use super::visible::BLOCKED;
use super::writer::Writing;
use super::{Store, StoreError, events, inbox};

/// The most people of a gateway.
const MAX_PEOPLE: u32 = 1_000;
/// The longest name of a person or a token, in bytes.
const MAX_NAME_BYTES: usize = 64;

/// The role of a person, or the most that a token of theirs may do. The later one may do more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Uses their own sessions.
    User,
    /// Also answers the questions of their agent.
    Approver,
    /// May do everything. There is one.
    Owner,
}

named!(Role { User = "user", Approver = "approver", Owner = "owner" });

/// A person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PersonRecord {
    /// Their name.
    pub name: String,
    /// Their role.
    pub role: Role,
    /// The agent that they talk to.
    pub agent: String,
    /// When they were added.
    pub created_at: Moment,
    /// When they were blocked.
    pub blocked_at: Option<Moment>,
}

const COLUMNS: &str = "name, role, agent, created_at, blocked_at";

fn of_row(row: &Row<'_>) -> rusqlite::Result<PersonRecord> {
    Ok(PersonRecord {
        name: row.get(0)?,
        role: row.get(1)?,
        agent: row.get(2)?,
        created_at: row.get(3)?,
        blocked_at: row.get(4)?,
    })
}

impl Store {
    /// Adds a person, or returns the one who has the name. One who is there stays as they are.
    ///
    /// # Errors
    ///
    /// The name or the agent is none, there are 1,000 people, or another person is the owner.
    pub async fn add_person(
        &self,
        name: String,
        role: Role,
        agent: String,
    ) -> Result<PersonRecord, StoreError> {
        self.write(move |writing| add(writing, &name, role, &agent)).await
    }

    /// Returns a person.
    pub async fn person(&self, name: String) -> Result<Option<PersonRecord>, StoreError> {
        self.read(move |connection| found(connection, &name)).await
    }

    /// Lists all people by name.
    pub async fn people(&self) -> Result<Vec<PersonRecord>, StoreError> {
        self.read(|connection| {
            let mut statement =
                connection.prepare_cached(&format!("SELECT {COLUMNS} FROM people ORDER BY name"))?;
            Ok(statement.query_map([], of_row)?.collect::<Result<_, _>>()?)
        })
        .await
    }

    /// Sets the agent that a person talks to.
    ///
    /// # Errors
    ///
    /// There is no such person.
    pub async fn set_agent(&self, name: String, agent: String) -> Result<(), StoreError> {
        self.write(move |writing| {
            let sql = "UPDATE people SET agent = ?2 WHERE name = ?1";
            match writing.sql.prepare_cached(sql)?.execute(params![name, agent])? {
                0 => Err(no_person(&name)),
                _ => Ok(()),
            }
        })
        .await
    }

    /// Blocks a person, or lets them in again. Returns false if they are blocked, or not, already.
    ///
    /// While a person is blocked, no run begins or goes on in their sessions and those below; one in flight has to be cancelled. Messages that
    /// wait there are taken back; those that come meanwhile wait.
    ///
    /// # Errors
    ///
    /// There is no such person, or it is the owner.
    pub async fn block_person(&self, name: String, blocked: bool) -> Result<bool, StoreError> {
        self.write(move |writing| {
            let Some(person) = found(writing.sql, &name)? else { return Err(no_person(&name)) };
            if person.role == Role::Owner {
                return Err(Fault::Refused(format!("`{name}` is the owner, who cannot be blocked")));
            }
            if person.blocked_at.is_some() == blocked {
                return Ok(false);
            }
            let at = blocked.then_some(writing.now);
            writing
                .sql
                .prepare_cached("UPDATE people SET blocked_at = ?2 WHERE name = ?1")?
                .execute(params![name, at])?;
            let kind = if blocked { "person.blocked" } else { "person.unblocked" };
            events::write_of_person(writing, &name, kind, &json!({ "person": name }))?;
            if blocked {
                // In a group, a person has messages, and not the session.
                let waiting = format!(
                    "state = 'queued' AND (session IN ({BLOCKED}) OR (kind = 'message' AND sender = ?1)) ORDER BY id"
                );
                for message in inbox::select(writing.sql, &waiting, params![name])? {
                    inbox::cancel(writing, &message)?;
                }
            }
            Ok(true)
        })
        .await
    }
}

impl Store {
    /// Returns the messages of a person that began runs which are in flight, in whatever session.
    pub(crate) async fn in_flight_of_sender(&self, name: &str) -> Result<Vec<MessageId>, StoreError> {
        let name = name.to_owned();
        self.read(move |connection| {
            let sql = "SELECT inbox.id FROM runs JOIN inbox ON inbox.id = runs.message
                WHERE runs.ended_at IS NULL AND inbox.kind = 'message' AND inbox.sender = ?1 ORDER BY inbox.id";
            let mut statement = connection.prepare_cached(sql)?;
            Ok(statement.query_map([name], |row| row.get(0))?.collect::<Result<_, _>>()?)
        })
        .await
    }
}

/// Returns true if a person wrote a message who is blocked.
pub(super) fn has_blocked_sender(connection: &Connection, message: MessageId) -> Result<bool, Fault> {
    let sql = "SELECT EXISTS (SELECT 1 FROM inbox JOIN people ON people.name = inbox.sender
        WHERE inbox.id = ?1 AND inbox.kind = 'message' AND people.blocked_at IS NOT NULL)";
    Ok(connection.prepare_cached(sql)?.query_row([message], |row| row.get(0))?)
}

pub(super) fn no_person(name: &str) -> Fault {
    Fault::Refused(format!("there is no person `{name}`"))
}

pub(super) fn found(connection: &Connection, name: &str) -> Result<Option<PersonRecord>, Fault> {
    let sql = format!("SELECT {COLUMNS} FROM people WHERE name = ?1");
    Ok(connection.prepare_cached(&sql)?.query_row([name], of_row).optional()?)
}

/// Returns the name of the owner; `None` before the gateway was first started.
pub(super) fn owner(connection: &Connection) -> Result<Option<String>, Fault> {
    let sql = "SELECT name FROM people WHERE role = 'owner'";
    Ok(connection.prepare_cached(sql)?.query_row([], |row| row.get(0)).optional()?)
}

/// Adds a person, as part of a command, or returns the one who has the name.
pub(super) fn add(writing: &Writing<'_>, name: &str, role: Role, agent: &str) -> Result<PersonRecord, Fault> {
    if let Some(person) = found(writing.sql, name)? {
        return Ok(person);
    }
    check_name("a person", name)?;
    if agent.is_empty() {
        return Err(Fault::Refused(format!("`{name}` talks to an agent without a name; name it")));
    }
    let owner: Option<String> = writing
        .sql
        .prepare_cached("SELECT name FROM people WHERE role = 'owner'")?
        .query_row([], |row| row.get(0))
        .optional()?;
    if let (Role::Owner, Some(owner)) = (role, owner) {
        return Err(Fault::Refused(format!("`{owner}` is the owner, and there is one; use another role")));
    }
    let count: u32 = writing.sql.query_row("SELECT count(*) FROM people", [], |row| row.get(0))?;
    if count >= MAX_PEOPLE {
        return Err(Fault::Refused(format!("there are {MAX_PEOPLE} people, which is the limit")));
    }
    writing
        .sql
        .prepare_cached("INSERT INTO people (name, role, agent, created_at) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![name, role, agent, writing.now])?;
    events::write_of_person(writing, name, "person.added", &json!({ "person": name, "role": role }))?;
    found(writing.sql, name)?.ok_or_else(|| no_person(name))
}

/// Checks the name of a person or a token.
pub(super) fn check_name(of: &str, name: &str) -> Result<(), Fault> {
    let is_of_name = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_' | '.');
    // A name stands in a path, where dots alone mean another place.
    let is_dots = name.chars().all(|char| char == '.');
    if is_dots || name.len() > MAX_NAME_BYTES || !name.chars().all(is_of_name) {
        return Err(Fault::Refused(format!(
            "the name of {of} has 1 to {MAX_NAME_BYTES} letters, digits, `-`, `_` or `.`, and more than dots"
        )));
    }
    Ok(())
}
