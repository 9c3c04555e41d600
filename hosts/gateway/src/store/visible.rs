//! Who sees which sessions: a person sees their own, and those below.

use rusqlite::params;

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

impl Store {
    /// Returns true if a session is one of a person, or stands below one.
    pub async fn is_visible_to(&self, key: SessionKey, person: String) -> Result<bool, StoreError> {
        self.read(move |connection| {
            // From the session upwards: it has few above it, and a person may have many.
            let sql = "WITH RECURSIVE above (key, person, parent) AS (
                           SELECT key, person, parent FROM sessions WHERE key = ?1
                           UNION SELECT sessions.key, sessions.person, sessions.parent
                               FROM sessions JOIN above ON sessions.key = above.parent
                       )
                       SELECT EXISTS (SELECT 1 FROM above WHERE person = ?2)";
            Ok(connection.prepare_cached(sql)?.query_row(params![key, person], |row| row.get(0))?)
        })
        .await
    }
}
