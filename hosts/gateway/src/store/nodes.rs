//! Nodes: devices by their keys, from their pairing to their revocation.

use std::net::IpAddr;
use std::time::Duration;

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use serde::Serialize;
use serde_json::json;
use toolkit_node::PublicKey;

use super::clock::Moment;
use super::damage::Fault;
use super::named::named;
use super::people::{self, no_person};
use super::writer::Writing;
use super::{Store, StoreError, events};

/// The most nodes of a gateway, revoked ones included.
const MAX_NODES: u32 = 1_000;
/// The most nodes that wait for approval: of all, and of those that asked from one network.
const MAX_PENDING: u32 = 16;
const MAX_PENDING_OF_SOURCE: u32 = 4;
/// Time for which the code of a node counts.
pub(crate) const CODE_WITHIN: Duration = Duration::from_hours(1);

/// The state of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NodeState {
    /// It waits until the owner approves its code.
    Pending,
    /// It may connect.
    Approved,
    /// It may not connect any more.
    Revoked,
}

named!(NodeState { Pending = "pending", Approved = "approved", Revoked = "revoked" });

/// A node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeRecord {
    /// Its id, which rules and tools name.
    pub id: String,
    /// Its public key, in hexadecimal.
    pub key: String,
    /// The name that it gave itself.
    pub name: String,
    /// The platform that it named.
    pub platform: String,
    /// Its state.
    pub state: NodeState,
    /// The person to whom it belongs.
    pub person: Option<String>,
    /// The person who approved it.
    pub approved_by: Option<String>,
    /// When its code expires, if it waits for approval.
    pub expires_at: Option<Moment>,
    /// When it asked for approval.
    pub created_at: Moment,
    /// When its state changed last.
    pub changed_at: Moment,
}

/// A node that asks for approval.
#[derive(Debug, Clone)]
pub(crate) struct NewPairing {
    /// The id that it gets.
    pub(crate) id: String,
    pub(crate) key: String,
    pub(crate) name: String,
    pub(crate) platform: String,
    /// The digest of its code.
    pub(crate) code: String,
    /// The network from which it asks.
    pub(crate) source: Option<IpAddr>,
}

/// The outcome of an approval in the store.
#[derive(Debug, Clone)]
pub(crate) enum NodeApproval {
    /// The node may connect.
    Approved(NodeRecord),
    /// The node that waits under the code has another key than the one that was shown.
    OtherKey(NodeRecord),
    /// No node with this code waits, or the code has expired.
    Unknown,
}

/// Selects the node whose code has the digest `?1` and counts at the time `?2`.
const WAITS: &str = "code = ?1 AND state = 'pending' AND expires_at > ?2";

const COLUMNS: &str =
    "nodes.id, key, name, platform, state, person, approved_by, expires_at, created_at, changed_at";

fn of_row(row: &Row<'_>) -> rusqlite::Result<NodeRecord> {
    Ok(NodeRecord {
        id: row.get(0)?,
        key: row.get(1)?,
        name: row.get(2)?,
        platform: row.get(3)?,
        state: row.get(4)?,
        person: row.get(5)?,
        approved_by: row.get(6)?,
        expires_at: row.get(7)?,
        created_at: row.get(8)?,
        changed_at: row.get(9)?,
    })
}

fn found(
    connection: &Connection,
    condition: &str,
    values: &[&dyn ToSql],
) -> Result<Option<NodeRecord>, Fault> {
    let sql = format!("SELECT {COLUMNS} FROM nodes WHERE {condition}");
    Ok(connection.prepare_cached(&sql)?.query_row(values, of_row).optional()?)
}

impl Store {
    /// Notes that a node asks for approval, in place of what it asked before. One that was revoked asks anew, under another id. Returns the node
    /// as it is, without a change, if it is approved already.
    ///
    /// # Errors
    ///
    /// 16 nodes wait for approval, four of the same network do, or there are 1,000.
    pub(crate) async fn begin_pairing(&self, new: NewPairing) -> Result<NodeRecord, StoreError> {
        self.write(move |writing| begin(writing, new)).await
    }

    /// Returns the node that waits under the code with this digest.
    pub(crate) async fn pending_node(&self, code: String) -> Result<Option<NodeRecord>, StoreError> {
        let now = self.clock().now();
        self.read(move |connection| found(connection, WAITS, &[&code, &now])).await
    }

    /// Approves the node whose code has this digest, for a person, if its key has this fingerprint.
    ///
    /// # Errors
    ///
    /// There is no such person, or they are blocked.
    pub(crate) async fn approve_node(
        &self,
        code: String,
        fingerprint: String,
        person: String,
        by: String,
    ) -> Result<NodeApproval, StoreError> {
        self.write(move |writing| {
            let Some(node) = found(writing.sql, WAITS, &[&code, &writing.now])? else {
                return Ok(NodeApproval::Unknown);
            };
            if !node.key.parse().is_ok_and(|key: PublicKey| key.fingerprint() == fingerprint) {
                return Ok(NodeApproval::OtherKey(node));
            }
            let whose = people::found(writing.sql, &person)?.ok_or_else(|| no_person(&person))?;
            if whose.blocked_at.is_some() {
                return Err(Fault::Refused(format!("`{person}` is blocked; unblock them first")));
            }
            writing
                .sql
                .prepare_cached(
                    "UPDATE nodes SET state = 'approved', code = NULL, expires_at = NULL, source = NULL, person = ?2, approved_by = ?3,
                         changed_at = ?4 WHERE id = ?1",
                )?
                .execute(params![node.id, person, by, writing.now])?;
            let data = json!({ "node": node.id, "person": person, "approvedBy": by });
            events::write_of_person(writing, &person, "node.approved", &data)?;
            let approved = found(writing.sql, "id = ?1", &[&node.id])?;
            Ok(approved.map_or(NodeApproval::Unknown, NodeApproval::Approved))
        })
        .await
    }

    /// Revokes a node, or turns one away that waits. Returns false if there is none of this id, or it was revoked before.
    pub(crate) async fn revoke_node(&self, id: String) -> Result<bool, StoreError> {
        self.write(move |writing| {
            let Some(node) = found(writing.sql, "id = ?1 AND state <> 'revoked'", &[&id])? else {
                return Ok(false);
            };
            writing
                .sql
                .prepare_cached(
                    "UPDATE nodes SET state = 'revoked', code = NULL, expires_at = NULL, source = NULL, changed_at = ?2 WHERE id = ?1",
                )?
                .execute(params![id, writing.now])?;
            let owner = people::owner(writing.sql)?;
            if let Some(person) = node.person.or(owner) {
                events::write_of_person(writing, &person, "node.revoked", &json!({ "node": id }))?;
            }
            Ok(true)
        })
        .await
    }

    /// Returns the node with this key. The second value is true if its person is blocked.
    pub(crate) async fn node_of_key(&self, key: String) -> Result<Option<(NodeRecord, bool)>, StoreError> {
        self.read(move |connection| {
            let Some(node) = found(connection, "key = ?1", &[&key])? else { return Ok(None) };
            let person = match &node.person {
                Some(person) => people::found(connection, person)?,
                None => None,
            };
            let is_blocked = person.is_some_and(|person| person.blocked_at.is_some());
            Ok(Some((node, is_blocked)))
        })
        .await
    }

    /// Lists the nodes of a person, or all, by id. Those whose codes have expired are left out.
    pub async fn nodes(&self, person: Option<String>) -> Result<Vec<NodeRecord>, StoreError> {
        let now = self.clock().now();
        self.read(move |connection| {
            let sql = format!(
                "SELECT {COLUMNS} FROM nodes
                 WHERE (?1 IS NULL OR person = ?1) AND (expires_at IS NULL OR expires_at > ?2) ORDER BY id"
            );
            let mut statement = connection.prepare_cached(&sql)?;
            Ok(statement.query_map(params![person, now], of_row)?.collect::<Result<_, _>>()?)
        })
        .await
    }
}

fn begin(writing: &Writing<'_>, new: NewPairing) -> Result<NodeRecord, Fault> {
    let NewPairing { id, key, name, platform, code, source } = new;
    let source = source.map(|source| source.to_string());
    let sql = "DELETE FROM nodes WHERE state = 'pending' AND expires_at <= ?1";
    writing.sql.prepare_cached(sql)?.execute([writing.now])?;
    if let Some(node) = found(writing.sql, "key = ?1", &[&key])? {
        if node.state == NodeState::Approved {
            return Ok(node);
        }
        writing.sql.prepare_cached("DELETE FROM nodes WHERE id = ?1")?.execute([&node.id])?;
    }
    let count = |condition: &str, values: &[&dyn ToSql]| -> Result<u32, Fault> {
        let sql = format!("SELECT count(*) FROM nodes WHERE {condition}");
        Ok(writing.sql.prepare_cached(&sql)?.query_row(values, |row| row.get(0))?)
    };
    if count("state = 'pending' AND source IS ?1", &[&source])? >= MAX_PENDING_OF_SOURCE {
        return Err(Fault::Refused(format!(
            "{MAX_PENDING_OF_SOURCE} nodes of one network wait for approval, which is the limit; approve or revoke one of them"
        )));
    }
    if count("state = 'pending'", &[])? >= MAX_PENDING {
        return Err(Fault::Refused(format!(
            "{MAX_PENDING} nodes wait for approval, which is the limit; try again later"
        )));
    }
    if count("true", &[])? >= MAX_NODES {
        return Err(Fault::Refused(format!("there are {MAX_NODES} nodes, which is the limit")));
    }
    let expires_at = writing.now.after(CODE_WITHIN);
    writing
        .sql
        .prepare_cached(
            "INSERT INTO nodes (id, key, name, platform, state, code, expires_at, source, created_at, changed_at)
             VALUES (?1, ?2, ?3, ?4, 'pending', ?5, ?6, ?7, ?8, ?8)",
        )?
        .execute(params![id, key, name, platform, code, expires_at, source, writing.now])?;
    if let Some(owner) = people::owner(writing.sql)? {
        let data = json!({ "node": id, "platform": platform });
        events::write_of_person(writing, &owner, "node.pairing", &data)?;
    }
    found(writing.sql, "id = ?1", &[&id])?
        .ok_or_else(|| Fault::Refused("the node that was added is not there".to_owned()))
}
