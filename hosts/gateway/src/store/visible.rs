//! Who sees which sessions: a person sees their own, and those below. If a person is blocked, these are.

use rusqlite::{Connection, params};

use super::damage::Fault;
use super::{Store, StoreError};
use crate::SessionKey;

/// The keys of the sessions that the person of a parameter sees, as a table expression `visible`.
pub(super) fn visible(person: &str) -> String {
    format!(
        "visible (key) AS (
             SELECT key FROM sessions WHERE person = {person}
             UNION SELECT sessions.key FROM sessions JOIN visible ON sessions.parent = visible.key
         )"
    )
}

/// The keys of the sessions in which nothing runs, as a subquery. It begins with the people who are blocked, who are few.
pub(super) const BLOCKED: &str = "WITH RECURSIVE blocked (key) AS (
        SELECT sessions.key FROM people INDEXED BY people_blocked CROSS JOIN sessions ON sessions.person = people.name
        WHERE people.blocked_at IS NOT NULL
        UNION SELECT sessions.key FROM sessions JOIN blocked ON sessions.parent = blocked.key
    )
    SELECT key FROM blocked";

/// A session and those above it, as a table expression `above`: it has few above it, and a person may have many below.
const ABOVE: &str = "above (key, person, parent) AS (
        SELECT key, person, parent FROM sessions WHERE key = ?1
        UNION SELECT sessions.key, sessions.person, sessions.parent FROM sessions JOIN above ON sessions.key = above.parent
    )";

/// Returns true if nothing runs in a session, since its person is blocked.
pub(super) fn is_blocked(connection: &Connection, session: &SessionKey) -> Result<bool, Fault> {
    let sql = format!(
        "WITH RECURSIVE {ABOVE}
         SELECT EXISTS (SELECT 1 FROM above JOIN people ON people.name = above.person WHERE people.blocked_at IS NOT NULL)"
    );
    Ok(connection.prepare_cached(&sql)?.query_row([session], |row| row.get(0))?)
}

/// Returns a session and those above it, from below, each with its person. One that is not there is alone.
pub(super) fn with_those_above(
    connection: &Connection,
    session: &SessionKey,
) -> Result<Vec<(SessionKey, Option<String>)>, Fault> {
    let sql = format!("WITH RECURSIVE {ABOVE} SELECT key, person FROM above");
    let mut statement = connection.prepare_cached(&sql)?;
    let rows = statement.query_map([session], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut found = rows.collect::<Result<Vec<_>, _>>()?;
    if found.is_empty() {
        found.push((session.clone(), None));
    }
    Ok(found)
}

impl Store {
    /// Returns true if a session is one of a person, or stands below one.
    pub async fn is_visible_to(&self, key: SessionKey, person: String) -> Result<bool, StoreError> {
        self.read(move |connection| {
            let sql = format!("WITH RECURSIVE {ABOVE} SELECT EXISTS (SELECT 1 FROM above WHERE person = ?2)");
            Ok(connection.prepare_cached(&sql)?.query_row(params![key, person], |row| row.get(0))?)
        })
        .await
    }

    /// Returns true if a session is another one, or stands below it.
    pub async fn is_in_tree(&self, key: SessionKey, root: SessionKey) -> Result<bool, StoreError> {
        self.read(move |connection| {
            let sql = format!("WITH RECURSIVE {ABOVE} SELECT EXISTS (SELECT 1 FROM above WHERE key = ?2)");
            Ok(connection.prepare_cached(&sql)?.query_row(params![key, root], |row| row.get(0))?)
        })
        .await
    }
}
