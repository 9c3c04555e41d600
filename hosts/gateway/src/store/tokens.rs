//! Tokens of people: each stands for a person, with a role that is at most theirs. Only digests are stored.

use rusqlite::{OptionalExtension as _, Row, params};
use serde::Serialize;
use serde_json::json;

use super::clock::Moment;
use super::damage::Fault;
use super::people::{self, PersonRecord, Role};
use super::{Store, StoreError, events};

/// The most tokens of a gateway.
const MAX_TOKENS: u32 = 1_000;

/// A token that is added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewToken {
    name: String,
    person: String,
    agent: String,
    role: Option<Role>,
    expires_at: Option<Moment>,
}

impl NewToken {
    /// A token of a person. If there is no such person, they are added, as a user who talks to the agent.
    pub fn new(name: impl Into<String>, person: impl Into<String>, agent: impl Into<String>) -> Self {
        Self { name: name.into(), person: person.into(), agent: agent.into(), role: None, expires_at: None }
    }

    /// Sets the role, which a person who is added gets as well; by default, that of the person.
    #[must_use]
    pub fn with_role(mut self, role: Role) -> Self {
        self.role = Some(role);
        self
    }

    /// Sets when it expires; by default, never.
    #[must_use]
    pub fn with_expiry(mut self, at: Moment) -> Self {
        self.expires_at = Some(at);
        self
    }
}

/// A token, without its text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TokenRecord {
    /// Its name.
    pub name: String,
    /// Its person.
    pub person: String,
    /// Its role.
    pub role: Role,
    /// When it was made.
    pub created_at: Moment,
    /// When it expires.
    pub expires_at: Option<Moment>,
}

const COLUMNS: &str = "tokens.name, tokens.person, tokens.role, tokens.created_at, tokens.expires_at";

fn of_row(row: &Row<'_>) -> rusqlite::Result<TokenRecord> {
    Ok(TokenRecord {
        name: row.get(0)?,
        person: row.get(1)?,
        role: row.get(2)?,
        created_at: row.get(3)?,
        expires_at: row.get(4)?,
    })
}

impl Store {
    /// Stores the digest of a token: the SHA-256 of its text in hexadecimal.
    ///
    /// # Errors
    ///
    /// The name is none or belongs to another token, the role is more than that of the person, the person is blocked, the time of expiry is
    /// past, or there are 1,000 tokens.
    pub async fn add_token(&self, token: NewToken, digest: String) -> Result<TokenRecord, StoreError> {
        self.write(move |writing| {
            let NewToken { name, person, agent, role, expires_at } = token;
            people::check_name("a token", &name)?;
            let known = "SELECT EXISTS (SELECT 1 FROM tokens WHERE name = ?1)";
            if writing.sql.prepare_cached(known)?.query_row([&name], |row| row.get(0))? {
                return Err(Fault::Refused(format!("there is a token `{name}`; revoke it first for a new one")));
            }
            let count: u32 = writing.sql.query_row("SELECT count(*) FROM tokens", [], |row| row.get(0))?;
            if count >= MAX_TOKENS {
                return Err(Fault::Refused(format!("there are {MAX_TOKENS} tokens, which is the limit; revoke some")));
            }
            if expires_at.is_some_and(|at| at <= writing.now) {
                return Err(Fault::Refused("the token would have expired already; name a later time".to_owned()));
            }
            let person = people::add(writing, &person, role.unwrap_or(Role::User), &agent)?;
            if person.blocked_at.is_some() {
                return Err(Fault::Refused(format!("`{}` is blocked; unblock them first", person.name)));
            }
            let role = role.unwrap_or(person.role);
            if role > person.role {
                return Err(Fault::Refused(format!(
                    "the role of a token is at most that of its person, and `{}` is {}",
                    person.name,
                    person.role.name()
                )));
            }
            writing
                .sql
                .prepare_cached(
                    "INSERT INTO tokens (name, digest, person, role, created_at, expires_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                )?
                .execute(params![name, digest, person.name, role, writing.now, expires_at])?;
            let data = json!({ "token": name, "person": person.name, "role": role });
            events::write_of_person(writing, &person.name, "token.added", &data)?;
            Ok(TokenRecord { name, person: person.name, role, created_at: writing.now, expires_at })
        })
        .await
    }

    /// Makes a digest that of a person's token of this name, in place of an earlier one.
    ///
    /// # Errors
    ///
    /// There is no such person.
    pub async fn replace_token(
        &self,
        name: String,
        person: String,
        digest: String,
    ) -> Result<(), StoreError> {
        self.write(move |writing| {
            let Some(person) = people::found(writing.sql, &person)? else { return Err(people::no_person(&person)) };
            writing
                .sql
                .prepare_cached(
                    "INSERT INTO tokens (name, digest, person, role, created_at) VALUES (?1, ?2, ?3, ?4, ?5)
                     ON CONFLICT (name) DO UPDATE SET digest = excluded.digest, person = excluded.person, role = excluded.role,
                         created_at = excluded.created_at, expires_at = NULL",
                )?
                .execute(params![name, digest, person.name, person.role, writing.now])?;
            let data = json!({ "token": name, "person": person.name });
            events::write_of_person(writing, &person.name, "token.replaced", &data)
        })
        .await
    }

    /// Returns the token with this digest and its person, if it has not expired and the person is not blocked.
    pub async fn token_of_digest(
        &self,
        digest: String,
    ) -> Result<Option<(TokenRecord, PersonRecord)>, StoreError> {
        let now = self.clock().now();
        self.read(move |connection| {
            let sql = format!(
                "SELECT {COLUMNS} FROM tokens JOIN people ON people.name = tokens.person
                 WHERE digest = ?1 AND (expires_at IS NULL OR expires_at > ?2) AND blocked_at IS NULL"
            );
            let token =
                connection.prepare_cached(&sql)?.query_row(params![digest, now], of_row).optional()?;
            let Some(token) = token else { return Ok(None) };
            Ok(people::found(connection, &token.person)?.map(|person| (token, person)))
        })
        .await
    }

    /// Lists all tokens by name.
    pub async fn tokens(&self) -> Result<Vec<TokenRecord>, StoreError> {
        self.read(|connection| {
            let mut statement =
                connection.prepare_cached(&format!("SELECT {COLUMNS} FROM tokens ORDER BY name"))?;
            Ok(statement.query_map([], of_row)?.collect::<Result<_, _>>()?)
        })
        .await
    }

    /// Revokes a token: it is removed. Returns its digest; `None` if there is no such token.
    pub async fn revoke_token(&self, name: String) -> Result<Option<String>, StoreError> {
        self.write(move |writing| {
            let removed: Option<(String, String)> = writing
                .sql
                .prepare_cached("DELETE FROM tokens WHERE name = ?1 RETURNING digest, person")?
                .query_row([&name], |row| Ok((row.get(0)?, row.get(1)?)))
                .optional()?;
            let Some((digest, person)) = removed else { return Ok(None) };
            let data = json!({ "token": name, "person": person });
            events::write_of_person(writing, &person, "token.revoked", &data)?;
            Ok(Some(digest))
        })
        .await
    }

    /// Returns the digests of the tokens of a person, or of all.
    pub async fn digests(&self, person: Option<String>) -> Result<Vec<String>, StoreError> {
        self.read(move |connection| {
            let sql = "SELECT digest FROM tokens WHERE ?1 IS NULL OR person = ?1";
            let mut statement = connection.prepare_cached(sql)?;
            Ok(statement.query_map([person], |row| row.get(0))?.collect::<Result<_, _>>()?)
        })
        .await
    }
}
