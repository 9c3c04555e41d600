//! Who waits for whom: waits and delegations form one graph without cycles.

use std::collections::{BTreeMap, VecDeque};

use rusqlite::{Connection, params};

use super::damage::Fault;
use super::writer::Writing;
use super::{Store, StoreError};
use crate::SessionKey;

/// A wait that would never end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "waiting would never end, since each of these waits for the next: {}; send without waiting (`timeoutSeconds: 0`)",
    .path.iter().map(SessionKey::as_str).collect::<Vec<_>>().join(" → ")
)]
pub struct WaitCycle {
    /// From the session that wants to wait, over the one that it wants to wait for, back to itself.
    pub path: Vec<SessionKey>,
}

impl Store {
    /// Notes that one session waits for another, and returns the number of the wait. Checked and noted in one step; both sessions exist.
    pub async fn begin_wait(
        &self,
        waiter: SessionKey,
        awaited: SessionKey,
    ) -> Result<Result<i64, WaitCycle>, StoreError> {
        self.write(move |writing| {
            for key in [&waiter, &awaited] {
                let exists: bool = writing
                    .sql
                    .prepare_cached("SELECT EXISTS (SELECT 1 FROM sessions WHERE key = ?1)")?
                    .query_row([key], |row| row.get(0))?;
                if !exists {
                    return Err(super::sessions::no_session(key));
                }
            }
            if let Some(cycle) = cycle(writing.sql, &waiter, &awaited)? {
                return Ok(Err(cycle));
            }
            begin(writing, &waiter, &awaited).map(Ok)
        })
        .await
    }

    /// Returns the waits that have not ended: who waits for whom.
    pub async fn waits(&self) -> Result<Vec<(SessionKey, SessionKey)>, StoreError> {
        self.read(|connection| {
            let mut statement = connection.prepare_cached("SELECT waiter, awaited FROM waits ORDER BY id")?;
            Ok(statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?)
        })
        .await
    }

    /// Notes that a wait is over.
    pub async fn end_wait(&self, wait: i64) -> Result<(), StoreError> {
        self.write(move |writing| {
            writing.sql.prepare_cached("DELETE FROM waits WHERE id = ?1")?.execute([wait])?;
            Ok(())
        })
        .await
    }

    /// Forgets the waits of a process that has ended; done at start, before anything runs.
    pub async fn end_all_waits(&self) -> Result<(), StoreError> {
        self.write(|writing| {
            writing.sql.execute("DELETE FROM waits", [])?;
            Ok(())
        })
        .await
    }
}

/// Returns the cycle that a wait would close.
pub(super) fn cycle(
    connection: &Connection,
    waiter: &SessionKey,
    awaited: &SessionKey,
) -> Result<Option<WaitCycle>, Fault> {
    Ok(path_back(connection, waiter, awaited)?.map(|path| WaitCycle { path }))
}

/// Notes a wait that closes no cycle, as part of a command, and returns its number.
pub(super) fn begin(writing: &Writing<'_>, waiter: &SessionKey, awaited: &SessionKey) -> Result<i64, Fault> {
    writing
        .sql
        .prepare_cached("INSERT INTO waits (waiter, awaited, since) VALUES (?1, ?2, ?3)")?
        .execute(params![waiter, awaited, writing.now])?;
    Ok(writing.sql.last_insert_rowid())
}

/// The shortest way over waits from the awaited session to the one that wants to wait, both ends and the new edge included.
fn path_back(
    connection: &Connection,
    waiter: &SessionKey,
    awaited: &SessionKey,
) -> Result<Option<Vec<SessionKey>>, Fault> {
    let mut next =
        connection.prepare_cached("SELECT DISTINCT awaited FROM waits WHERE waiter = ?1 ORDER BY awaited")?;
    let mut came_from: BTreeMap<SessionKey, SessionKey> = BTreeMap::new();
    let mut open = VecDeque::from([awaited.clone()]);
    came_from.insert(awaited.clone(), waiter.clone());
    while let Some(session) = open.pop_front() {
        if session == *waiter {
            let mut path = vec![waiter.clone()];
            let mut at = waiter;
            while let Some(before) = came_from.get(at) {
                path.push(before.clone());
                at = before;
                if at == waiter {
                    break;
                }
            }
            path.reverse();
            return Ok(Some(path));
        }
        let found = next.query_map([&session], |row| row.get::<_, SessionKey>(0))?;
        for found in found {
            let found = found?;
            if !came_from.contains_key(&found) {
                came_from.insert(found.clone(), session.clone());
                open.push_back(found);
            }
        }
    }
    Ok(None)
}
