//! Who may be written to: identities as they are when something leaves, and not as they were when it was prepared.

use rusqlite::{Connection, OptionalExtension as _};
use toolkit_channel::{Conversation, ConversationKind};

use super::damage::Fault;
use super::people;
use super::target::{LOCAL_CHANNEL, Target};
use crate::{SessionKey, SessionKind};

/// Returns true if a delivery may go to its receiver: in a direct conversation that is an identity of a person who is not blocked, and for the
/// answer of a session, of the person to whom that belongs. The gateway's own words, which are of no session, go to anybody.
pub(super) fn is_reachable(
    connection: &Connection,
    target: &Target,
    session: Option<&SessionKey>,
    is_answer: bool,
) -> Result<bool, Fault> {
    let Some(session) = session else { return Ok(true) };
    let Some(peer) = direct_peer(target) else { return Ok(true) };
    match person_who_counts(connection, &target.channel, &peer)? {
        None => Ok(false),
        Some(person) => {
            Ok(!is_answer || person_of_session(connection, session)?.is_none_or(|whose| whose == person))
        }
    }
}

/// Returns true if the answers of a session may go to a target, as the identities are now.
pub(super) fn is_for_session(
    connection: &Connection,
    target: &Target,
    session: &SessionKey,
) -> Result<bool, Fault> {
    let Some(peer) = direct_peer(target) else { return Ok(true) };
    let Some(person) = person_who_counts(connection, &target.channel, &peer)? else { return Ok(false) };
    Ok(person_of_session(connection, session)?.is_none_or(|whose| whose == person))
}

/// The sender with whom a conversation of a channel is; `None` for groups, and for the gateway's own channel.
fn direct_peer(target: &Target) -> Option<String> {
    if target.channel == LOCAL_CHANNEL {
        return None;
    }
    let conversation: Conversation = target.conversation.parse().ok()?;
    (conversation.kind == ConversationKind::Direct).then_some(conversation.peer)
}

fn person_who_counts(connection: &Connection, channel: &str, sender: &str) -> Result<Option<String>, Fault> {
    let sql = "SELECT person FROM identities JOIN people ON people.name = identities.person
        WHERE channel = ?1 AND sender = ?2 AND people.blocked_at IS NULL";
    Ok(connection.prepare_cached(sql)?.query_row([channel, sender], |row| row.get(0)).optional()?)
}

fn person_of_session(connection: &Connection, session: &SessionKey) -> Result<Option<String>, Fault> {
    if session.kind() == SessionKind::Main {
        return people::owner(connection);
    }
    let sql = "SELECT person FROM sessions WHERE key = ?1";
    let person: Option<Option<String>> =
        connection.prepare_cached(sql)?.query_row([session], |row| row.get(0)).optional()?;
    Ok(person.flatten())
}
