//! Stores what was received: first who wrote it, then all else.

use std::sync::Arc;

use serde_json::{Value, json};
use toolkit_channel::{
    Account, Batch, Conversation, ConversationKind, Event, EventKind, Identity, Incoming, MediaKind, Sender,
};

use super::arrival::Arrival;
use super::commands::{self, Command};
use super::media::can_be_spoken;
use super::parts_of_text::Parts;
use super::{AtWork, asking, source};
use crate::codes;
use crate::people::Person;
use crate::settings::GroupSettings;
use crate::store::{Acceptance, NewMessage, PersonRecord, Store, StoreError, StrangersMessage, TurnedAway};
use crate::{PeerKind, SessionKey};

/// Stores events in order. One that is stored is not received again.
pub(super) async fn store_all(
    store: &Store,
    (account, identity): (&Account, &Identity),
    at_work: &AtWork,
    batch: Batch,
) -> Result<(), StoreError> {
    let source = source(account, identity);
    for Event { offset, kind } in batch.events {
        let arrival = Arrival { store, account, at_work, source: &source, identity, offset };
        let stored = match kind {
            EventKind::Message(incoming) => message(&arrival, incoming).await,
            EventKind::Press(press) => asking::pressed(&arrival, press).await,
            EventKind::Moved { from, to } => arrival.moved(from, to).await,
            _ => arrival.skip().await,
        };
        match stored {
            // Received again, it would be refused again, and nobody behind it would be heard.
            Err(error) if !error.problem.is_passing() => {
                tracing::error!(%error, source, "an event is refused, and left out");
                arrival.skip().await?;
            }
            stored => stored?,
        }
    }
    Ok(())
}

async fn message(arrival: &Arrival<'_>, incoming: Incoming) -> Result<(), StoreError> {
    let Some(sender) = incoming.sender.clone().filter(|sender| !sender.is_bot) else {
        return arrival.skip().await;
    };
    let person = arrival.store.person_of_sender(&arrival.account.channel, &sender.id).await?;
    match person {
        None if incoming.conversation.kind == ConversationKind::Direct => {
            stranger(arrival, &incoming, sender).await
        }
        // Nobody says a word in a group because of a stranger, nor to somebody who is blocked.
        None => arrival.skip().await,
        Some(person) if person.blocked_at.is_some() => arrival.skip().await,
        Some(person) => known(arrival, incoming, person).await,
    }
}

/// A message of an unknown sender: a code at most, and nothing that costs.
async fn stranger(arrival: &Arrival<'_>, incoming: &Incoming, sender: Sender) -> Result<(), StoreError> {
    let Ok(code) = codes::random() else {
        tracing::error!("the system has no random numbers for a code");
        return arrival.skip().await;
    };
    let (first, second) = code.split_at(4);
    let text = format!(
        "This account answers people that its owner has let in. Give the owner this code, which counts for an hour: {first}-{second}"
    );
    let message = StrangersMessage {
        sender: sender.id,
        name: sender.name,
        target: arrival.target(&incoming.conversation),
        source: arrival.source.to_owned(),
        offset: arrival.offset.clone(),
        code: codes::digest(&code),
        body: json!({ "text": text }),
    };
    if arrival.store.turn_away(message).await? == TurnedAway::WithCode {
        tracing::warn!(
            source = arrival.source,
            "an unknown sender waits; `toolkit gateway pair list` lists them"
        );
    }
    Ok(())
}

/// A message of a person of the gateway.
async fn known(arrival: &Arrival<'_>, incoming: Incoming, person: PersonRecord) -> Result<(), StoreError> {
    let settings = (arrival.at_work.settings)();
    let conversation = &incoming.conversation;
    let group = match conversation.kind {
        ConversationKind::Direct => None,
        _ => {
            let peer = arrival
                .store
                .first_peer(&arrival.account.channel, &arrival.account.id, &conversation.peer)
                .await?;
            match settings.groups.get(&format!("{}:{peer}", arrival.account.channel)) {
                Some(group) => Some((group.clone(), peer)),
                // A group that nobody configured hears nothing.
                None => return arrival.skip().await,
            }
        }
    };
    let is_addressed = group
        .as_ref()
        .is_none_or(|(group, _)| !group.mention || incoming.mentions_me || incoming.replies_to_me);
    let role = person.role;
    let person = Person::new(person, role);
    if let Some(answer) = asking::typed(&incoming) {
        return asking::answered(arrival, &incoming, &person, answer).await;
    }
    let agent = match &group {
        Some((GroupSettings { agent: Some(agent), .. }, _)) => agent.clone(),
        Some(_) => settings.agent,
        None => person.agent().to_owned(),
    };
    let peer = group.as_ref().map(|(_, peer)| &**peer);
    let key = session_key(arrival, &agent, &person, conversation, peer);
    let needs_name = (!is_addressed).then(|| arrival.identity.name.clone());
    let has_voice = incoming.media.iter().any(|media| media.kind == MediaKind::Voice);
    if needs_name.as_deref().is_some_and(|name| !has_voice || !can_be_spoken(name)) {
        return arrival.skip().await;
    }
    let command = Command::parse(&incoming);
    match (key, command) {
        // A command is written, and names nobody.
        (_, Some(_)) | (Err(_), _) if needs_name.is_some() => arrival.skip().await,
        (Err(_), _) => {
            let text = "This conversation cannot be served.";
            arrival.reply(&incoming.external_id, conversation, text).await
        }
        (Ok(key), Some(command)) => commands::run(arrival, &incoming, &person, key, command).await,
        (Ok(key), None) => {
            let member = group.is_some().then(|| person.name().to_owned());
            accept(arrival, &incoming, &person, key, Parts::of(&incoming, member, needs_name)).await
        }
    }
}

/// The session of a conversation: a person has one with an agent wherever they write directly.
fn session_key(
    arrival: &Arrival<'_>,
    agent: &str,
    person: &Person,
    conversation: &Conversation,
    group: Option<&str>,
) -> Result<SessionKey, crate::KeyError> {
    let Some(peer) = group else { return person.main_session(agent) };
    let kind =
        if conversation.kind == ConversationKind::Channel { PeerKind::Channel } else { PeerKind::Group };
    let (channel, account) = (&arrival.account.channel, &arrival.account.id);
    SessionKey::peer(agent, channel, account, kind, peer, conversation.thread.as_deref())
}

async fn accept(
    arrival: &Arrival<'_>,
    incoming: &Incoming,
    person: &Person,
    key: SessionKey,
    parts: Parts,
) -> Result<(), StoreError> {
    let Some(text) = parts.text_so_far() else { return arrival.skip().await };
    let mut body = json!({ "text": text, "messageId": incoming.message_id });
    if incoming.is_forwarded {
        body["forwarded"] = Value::Bool(true);
    }
    let mut message = NewMessage::new(arrival.source, &*incoming.external_id, key, body)
        .with_offset(&*arrival.offset)
        .with_sender(person.name())
        .with_reply_to(arrival.target(&incoming.conversation));
    if !parts.is_of_group() {
        message = message.with_person(person.name());
    }
    if parts.has_files() {
        message = message.with_unread(json!(parts));
    }
    if parts.needs_name.is_some() {
        message = message.unaddressed();
    }
    match arrival.at_work.sessions.send(message).await? {
        // Nobody learns that something is looked at that may be for nobody.
        _ if parts.needs_name.is_some() => arrival.skip().await,
        Acceptance::Accepted { .. } | Acceptance::Again { .. } => {
            // A courtesy, for which nothing waits.
            let (account, conversation) =
                (Arc::clone(&arrival.account.account), incoming.conversation.clone());
            tokio::spawn(async move { account.typing(&conversation).await });
            Ok(())
        }
        Acceptance::QueueFull { limit } => queue_full(arrival, incoming, limit).await,
    }
}

async fn queue_full(arrival: &Arrival<'_>, incoming: &Incoming, limit: u32) -> Result<(), StoreError> {
    let text =
        format!("{limit} messages wait for answers here already. Wait, or send /stop, and write again.");
    arrival.reply(&incoming.external_id, &incoming.conversation, &text).await
}
