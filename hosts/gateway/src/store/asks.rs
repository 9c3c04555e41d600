//! Questions that wait for a person.

use rusqlite::{Connection, OptionalExtension as _, Row, ToSql, params};
use serde::Serialize;
use serde_json::{Value, json};

use super::clock::Moment;
use super::damage::Fault;
use super::writer::Writing;
use super::{Store, StoreError, events};
use crate::SessionKey;

/// Characters of a code: without those that look alike.
const CODE_CHARS: &[u8; 31] = b"23456789ABCDEFGHJKLMNPQRSTUVWXY";
/// The length of a code.
const CODE_LENGTH: usize = 4;
/// Tries for a code that no other question has.
const MAX_CODES: usize = 100;

/// A question, as it is kept.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AskRecord {
    /// The short code with which a person answers it.
    pub code: String,
    /// The session whose run asks, if it is one of the gateway.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<SessionKey>,
    /// Whose session it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub person: Option<String>,
    /// The question as JSON, with its origin.
    pub ask: Value,
    /// The time since which it waits.
    pub asked_at: Moment,
    /// The time at which it is denied.
    pub expires_at: Moment,
}

/// The call that asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AskingCall {
    pub(crate) session: String,
    pub(crate) turn: Option<String>,
    pub(crate) call: String,
}

/// An answer.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AskAnswer {
    pub(crate) answer: Value,
    pub(crate) by: Option<String>,
    pub(crate) at: Moment,
}

/// A question to keep.
#[derive(Debug, Clone)]
pub(crate) struct NewAsk {
    pub(crate) digest: String,
    pub(crate) session: Option<SessionKey>,
    pub(crate) call: AskingCall,
    pub(crate) ask: Value,
    pub(crate) asked_at: Moment,
    pub(crate) expires_at: Moment,
    pub(crate) answer: Option<AskAnswer>,
}

/// How the answering of a question ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
#[non_exhaustive]
pub enum AskOutcome {
    /// The answer counts.
    Answered,
    /// Another one came first.
    AnsweredBefore {
        /// Who gave it.
        #[serde(skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// Its time is over.
    Expired,
    /// There is no such question: its call has ended, or there never was one.
    Unknown,
}

impl Store {
    /// Keeps a question. One that is there keeps its code and its answer, which is returned.
    pub(crate) async fn put_ask(&self, new: NewAsk) -> Result<Option<AskAnswer>, StoreError> {
        self.write(move |writing| {
            let known = writing
                .sql
                .prepare_cached("SELECT EXISTS (SELECT 1 FROM asks WHERE digest = ?1)")?
                .query_row([&new.digest], |row| row.get::<_, bool>(0))?;
            let code = if known { String::new() } else { free_code(writing)? };
            let (answer, by, at) = match &new.answer {
                Some(AskAnswer { answer, by, at }) => (Some(answer.to_string()), by.clone(), Some(*at)),
                None => (None, None, None),
            };
            writing
                .sql
                .prepare_cached(
                    "INSERT INTO asks (digest, code, session, of_session, turn, call, body, asked_at, expires_at, answer, answered_by, answered_at)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
                     ON CONFLICT (digest) DO UPDATE SET body = excluded.body, asked_at = excluded.asked_at, expires_at = excluded.expires_at,
                         answer = coalesce(excluded.answer, answer), answered_by = coalesce(excluded.answered_by, answered_by),
                         answered_at = coalesce(excluded.answered_at, answered_at)",
                )?
                .execute(params![
                    new.digest,
                    code,
                    new.session,
                    new.call.session,
                    new.call.turn,
                    new.call.call,
                    new.ask.to_string(),
                    new.asked_at,
                    new.expires_at,
                    answer,
                    by,
                    at
                ])?;
            if let (false, None, Some(session)) = (known, &new.answer, &new.session) {
                let data = json!({ "code": code, "tool": new.ask["tool"], "title": new.ask["question"]["title"] });
                events::write(writing, session.as_str(), "ask.asked", &data)?;
            }
            answer_of(writing.sql, &new.digest)
        })
        .await
    }

    /// Returns a kept question as JSON.
    pub(crate) async fn kept_ask(&self, digest: String) -> Result<Option<Value>, StoreError> {
        self.read(move |connection| {
            let sql = "SELECT body FROM asks WHERE digest = ?1";
            let body: Option<String> =
                connection.prepare_cached(sql)?.query_row([digest], |row| row.get(0)).optional()?;
            Ok(body.map(|body| serde_json::from_str(&body)).transpose()?)
        })
        .await
    }

    /// Returns the answer of a kept question, if it has one.
    pub(crate) async fn ask_answer(&self, digest: String) -> Result<Option<AskAnswer>, StoreError> {
        self.read(move |connection| answer_of(connection, &digest)).await
    }

    /// Removes a question with its answer. Returns false if it was not there.
    pub(crate) async fn remove_ask(&self, digest: String) -> Result<bool, StoreError> {
        self.write(move |writing| Ok(!remove(writing, "digest = ?1", params![digest])?.is_empty())).await
    }

    /// Removes the questions of a call, or those that it asked before a time, and returns their digests.
    pub(crate) async fn remove_asks_of(
        &self,
        call: AskingCall,
        before: Option<Moment>,
    ) -> Result<Vec<String>, StoreError> {
        self.write(move |writing| {
            let AskingCall { session, turn, call } = call;
            let which = "of_session = ?1 AND call = ?2 AND turn IS ?3 AND (?4 IS NULL OR asked_at < ?4)";
            remove(writing, which, params![session, call, turn, before])
        })
        .await
    }

    /// Removes all questions whose digest begins with this.
    pub(crate) async fn remove_asks_with(&self, beginning: &'static str) -> Result<(), StoreError> {
        self.write(move |writing| {
            remove(writing, "substr(digest, 1, length(?1)) = ?1", params![beginning]).map(drop)
        })
        .await
    }

    /// Returns the questions that wait for an answer, in the order of asking: at most 1,000.
    pub async fn asks(&self) -> Result<Vec<AskRecord>, StoreError> {
        let now = self.clock().now();
        self.read(move |connection| {
            let sql = format!(
                "{SELECT} WHERE answered_at IS NULL AND expires_at > ?1 ORDER BY asked_at, digest LIMIT 1000"
            );
            let mut statement = connection.prepare_cached(&sql)?;
            let rows = statement.query_map([now], of_row)?;
            rows.map(|row| record(row?)).collect()
        })
        .await
    }

    /// Returns a question that is kept, with or without an answer.
    pub async fn ask(&self, code: &str) -> Result<Option<AskRecord>, StoreError> {
        let code = code.to_ascii_uppercase();
        self.read(move |connection| {
            let sql = format!("{SELECT} WHERE code = ?1");
            let found = connection.prepare_cached(&sql)?.query_row([code], of_row).optional()?;
            found.map(record).transpose()
        })
        .await
    }

    /// Answers a question; the first answer counts.
    pub(crate) async fn answer_ask(
        &self,
        code: String,
        answer: Value,
        by: String,
    ) -> Result<AskOutcome, StoreError> {
        self.write(move |writing| {
            let row: Option<AnswerRow> = writing
                .sql
                .prepare_cached(
                    "SELECT answered_at, answered_by, expires_at, session FROM asks WHERE code = ?1",
                )?
                .query_row([&code], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
                .optional()?;
            let Some((answered, answered_by, expires_at, session)) = row else {
                return Ok(AskOutcome::Unknown);
            };
            if answered.is_some() {
                return Ok(AskOutcome::AnsweredBefore { by: answered_by });
            }
            if expires_at <= writing.now {
                return Ok(AskOutcome::Expired);
            }
            writing
                .sql
                .prepare_cached(
                    "UPDATE asks SET answer = ?2, answered_by = ?3, answered_at = ?4 WHERE code = ?1",
                )?
                .execute(params![code, answer.to_string(), by, writing.now])?;
            if let Some(session) = session {
                let data = json!({ "code": code, "by": by, "answer": answer["type"] });
                events::write(writing, session.as_str(), "ask.answered", &data)?;
            }
            Ok(AskOutcome::Answered)
        })
        .await
    }
}

/// When it was answered and by whom, when it expires, and its session.
type AnswerRow = (Option<Moment>, Option<String>, Moment, Option<SessionKey>);

const SELECT: &str = "SELECT code, session, (SELECT person FROM sessions WHERE key = asks.session), body, asked_at, expires_at FROM asks";

type AskRow = (String, Option<SessionKey>, Option<String>, String, Moment, Moment);

fn of_row(row: &Row<'_>) -> rusqlite::Result<AskRow> {
    Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?))
}

fn record((code, session, person, body, asked_at, expires_at): AskRow) -> Result<AskRecord, Fault> {
    let ask = serde_json::from_str(&body)?;
    Ok(AskRecord { code, session, person, ask, asked_at, expires_at })
}

fn answer_of(connection: &Connection, digest: &str) -> Result<Option<AskAnswer>, Fault> {
    let sql =
        "SELECT answer, answered_by, answered_at FROM asks WHERE digest = ?1 AND answered_at IS NOT NULL";
    let row: Option<(String, Option<String>, Moment)> = connection
        .prepare_cached(sql)?
        .query_row([digest], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
        .optional()?;
    let answer = row.map(|(answer, by, at)| Ok(AskAnswer { answer: serde_json::from_str(&answer)?, by, at }));
    answer.transpose()
}

/// Removes the questions of a session.
pub(super) fn remove_of_session(writing: &Writing<'_>, session: &SessionKey) -> Result<(), Fault> {
    remove(writing, "session = ?1", params![session]).map(drop)
}

/// Removes questions, and returns their digests.
fn remove(writing: &Writing<'_>, which: &str, values: &[&dyn ToSql]) -> Result<Vec<String>, Fault> {
    let sql = format!("DELETE FROM asks WHERE {which} RETURNING digest, code, session");
    let mut statement = writing.sql.prepare_cached(&sql)?;
    let rows = statement.query_map(values, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let rows = rows.collect::<Result<Vec<(String, String, Option<SessionKey>)>, _>>()?;
    for (_, code, session) in &rows {
        if let Some(session) = session {
            events::write(writing, session.as_str(), "ask.ended", &json!({ "code": code }))?;
        }
    }
    Ok(rows.into_iter().map(|(digest, ..)| digest).collect())
}

/// Returns a code that no question has.
fn free_code(writing: &Writing<'_>) -> Result<String, Fault> {
    for _ in 0..MAX_CODES {
        let mut random = [0_u8; CODE_LENGTH * 2];
        getrandom::fill(&mut random)
            .map_err(|error| Fault::Refused(format!("no random numbers: {error}")))?;
        let code: String = random
            .chunks_exact(2)
            .map(|pair| usize::from(u16::from_be_bytes([pair[0], pair[1]])) % CODE_CHARS.len())
            .map(|place| char::from(CODE_CHARS[place]))
            .collect();
        let is_taken: bool = writing
            .sql
            .prepare_cached("SELECT EXISTS (SELECT 1 FROM asks WHERE code = ?1)")?
            .query_row([&code], |row| row.get(0))?;
        if !is_taken {
            return Ok(code);
        }
    }
    Err(Fault::Refused("too many questions wait: answer some first".to_owned()))
}
