//! Checks of what is received.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::bench::{ADA, BERT, Bench, CLEO, DORA, OTHER_ADA, message};
use super::double::{Operation, Person};
use super::guard::{guarded, interrupted, until};
use super::report::{Checked, Stop, ensure, equal, shown};
use crate::event::{Conversation, ConversationKind, Event, EventKind};

/// The most times that a future is polled before it is dropped.
const MAX_POLLS: usize = 8;
/// The number of messages whose order is checked.
const MESSAGES: usize = 20;

pub(super) async fn identify(bench: &mut Bench<'_>) -> Checked {
    let channels = [Arc::clone(&bench.channel), Arc::clone(&bench.channel), bench.double.open()];
    let mut first = None;
    for channel in channels {
        let identity = guarded("identify", channel.identify()).await?;
        bench.note(&identity);
        let identity = identity.map_err(|error| Stop::failed("an identity", shown(&error)))?;
        ensure(!identity.id.trim().is_empty(), "an id that is not empty", || shown(&identity))?;
        ensure(!identity.name.trim().is_empty(), "a name that is not empty", || shown(&identity))?;
        let first = first.get_or_insert_with(|| identity.clone());
        equal("the same identity each time", &identity, first)?;
    }
    Ok(())
}

/// The same offset gives the same events until a later one is given.
pub(super) async fn repeats(bench: &mut Bench<'_>) -> Checked {
    let offset = bench.catch_up().await?;
    let texts = [bench.write(ADA, "Once"), bench.write(BERT, "Twice")];
    let first = bench.answer(offset.as_deref()).await?;
    equal("the first message", &text_of(&first[0])?, &texts[0])?;
    for _ in 0..2 {
        let again = bench.answer(offset.as_deref()).await?;
        same_beginning("the same events with the same offset", &again, &first)?;
    }
    // The offset of the first event is later: it is behind, and the next one follows.
    let next = bench.answer(Some(&first[0].offset)).await?;
    equal("the message after the offset of the first one", &text_of(&next[0])?, &texts[1])?;
    bench.offset = Some(first[0].offset.clone());
    bench.expect_texts(texts[1..].to_vec()).await
}

pub(super) async fn empty(bench: &mut Bench<'_>) -> Checked {
    let offset = bench.catch_up().await?;
    let channel = Arc::clone(&bench.channel);
    let received = bench.receive_with(&*channel, offset.as_deref()).await?;
    let is_empty = received.as_ref().is_ok_and(|batch| batch.events.is_empty());
    ensure(is_empty, "an empty batch while nothing happens", || shown(&received))
}

pub(super) async fn dropped(bench: &mut Bench<'_>) -> Checked {
    let offset = bench.catch_up().await?;
    let texts = vec![bench.write(ADA, "Not to be lost")];
    for polls in 1..=MAX_POLLS {
        let channel = Arc::clone(&bench.channel);
        guarded("receive", interrupted(channel.receive(offset.as_deref()), polls)).await?;
    }
    bench.expect_texts(texts).await
}

/// An answer with events that is on its way when the future is dropped.
pub(super) async fn dropped_answer(bench: &mut Bench<'_>) -> Checked {
    let offset = bench.catch_up().await?;
    let texts = vec![bench.write(ADA, "Held back")];
    let held = bench.double.hold(Operation::Receive)?;
    let channel = Arc::clone(&bench.channel);
    let ended = guarded("receive", until(channel.receive(offset.as_deref()), held.reached())).await?;
    ensure(ended.is_none(), "receive waits for the answer that is held back", || shown(&ended))?;
    drop(held);
    bench.expect_texts(texts).await
}

pub(super) async fn reopened(bench: &mut Bench<'_>) -> Checked {
    let offset = bench.catch_up().await?;
    let texts: Vec<String> = (0..3).map(|_| bench.write(ADA, "Across a restart")).collect();
    bench.offset = Some(bench.answer(offset.as_deref()).await?.remove(0).offset);
    bench.channel = bench.double.open();
    bench.expect_texts(texts[1..].to_vec()).await
}

pub(super) async fn order(bench: &mut Bench<'_>) -> Checked {
    const PEOPLE: [Person; 4] = [ADA, BERT, OTHER_ADA, CLEO];
    let mut offset = bench.catch_up().await?;
    let mut texts = Vec::new();
    for number in 0..MESSAGES {
        texts.push(bench.write(PEOPLE[(number * number) % PEOPLE.len()], "In order"));
    }
    let mut offsets = BTreeSet::new();
    for text in &texts {
        let event = bench.answer(offset.as_deref()).await?.remove(0);
        equal("the message after each offset", &text_of(&event)?, text)?;
        ensure(offsets.insert(event.offset.clone()), "an offset of its own for each event", || {
            shown(&event)
        })?;
        offset = Some(event.offset);
    }
    bench.offset = offset;
    bench.expect_texts(Vec::new()).await
}

/// An event that cannot be read stops nothing, also as the only one of an answer.
pub(super) async fn unreadable(bench: &mut Bench<'_>) -> Checked {
    bench.catch_up().await?;
    let mut texts = vec![bench.write(ADA, "Before something strange")];
    bench.double.write_unreadable()?;
    texts.push(bench.write(ADA, "After something strange"));
    bench.expect_texts(texts).await?;
    bench.double.write_unreadable()?;
    let offset = bench.offset.clone();
    let events = bench.answer(offset.as_deref()).await?;
    let is_right = events.iter().all(|event| Some(&event.offset) != offset.as_ref());
    ensure(is_right, "an offset that passes the event", || shown(&events))
}

/// The same text twice, and the first messages of a person, whose numbers may be those of first messages in other conversations.
pub(super) async fn ids(bench: &mut Bench<'_>) -> Checked {
    let offset = bench.catch_up().await?;
    for person in [ADA, DORA, ADA, DORA, DORA] {
        bench.double.write(person, "The same text");
    }
    let first = bench.answer(offset.as_deref()).await?;
    let again = bench.answer(offset.as_deref()).await?;
    same_beginning("the same ids, received again", &again, &first)?;
    bench.channel = bench.double.open();
    let anew = bench.answer(offset.as_deref()).await?;
    same_beginning("the same ids with a channel opened anew", &anew, &first)?;
    let last = bench.write(ADA, "The last one");
    let messages = bench.messages_until(&last).await?;
    let ids: BTreeSet<&String> =
        messages.iter().map(|message| &message.external_id).filter(|id| !id.is_empty()).collect();
    ensure(ids.len() == 6, "an external id of its own for each of 6 messages", || shown(&messages))?;
    let shared = bench.shared_ids().join("; ");
    ensure(shared.is_empty(), "no external id of two messages", || shared)
}

pub(super) async fn edits(bench: &mut Bench<'_>) -> Checked {
    bench.catch_up().await?;
    let text = bench.text("Before the edit");
    let id = bench.double.write(ADA, &text);
    let mut all = vec![bench.message(&text).await?];
    ensure(!all[0].is_edited, "is_edited is false for a new message", || shown(&all[0]))?;
    for _ in 0..2 {
        let text = bench.text("After the edit");
        bench.double.edit(ADA, &id, &text)?;
        all.extend(bench.messages_until(&text).await?);
    }
    ensure(all.len() == 3, "one event for each edit", || shown(&all))?;
    for edit in &all[1..] {
        ensure(edit.is_edited, "is_edited is true for an edit", || shown(edit))?;
        equal("the id of the message that is edited", &edit.message_id, &all[0].message_id)?;
    }
    let ids: BTreeSet<&String> = all.iter().map(|message| &message.external_id).collect();
    ensure(ids.len() == all.len(), "an external id of its own for each edit", || shown(&ids))
}

pub(super) async fn senders(bench: &mut Bench<'_>) -> Checked {
    const RENAMED: Person = Person { name: "Ada of old", ..ADA };
    bench.catch_up().await?;
    let mut ids: BTreeMap<u32, String> = BTreeMap::new();
    for person in [ADA, BERT, OTHER_ADA, RENAMED, ADA] {
        let text = bench.write(person, "From whom?");
        let message = bench.message(&text).await?;
        let sender = message.sender.clone();
        let sender = sender.ok_or_else(|| Stop::failed("a sender", shown(&message)))?;
        ensure(!sender.is_bot, "a person is no bot", || shown(&sender))?;
        let is_id = !sender.id.trim().is_empty() && sender.id != person.name && sender.id != sender.name;
        ensure(is_id, "a sender with an id that is no name", || shown(&sender))?;
        let known = ids.entry(person.number).or_insert_with(|| sender.id.clone());
        equal("the id of a person, whatever the name", &sender.id, known)?;
    }
    let unique: BTreeSet<&String> = ids.values().collect();
    ensure(unique.len() == ids.len(), "an id of its own for each person", || shown(&ids))
}

pub(super) async fn conversations(bench: &mut Bench<'_>) -> Checked {
    bench.catch_up().await?;
    for person in [ADA, BERT] {
        let text = bench.write(person, "Directly");
        let message = bench.message(&text).await?;
        let conversation = message.conversation;
        equal("the conversation of the person", &conversation, &bench.double.conversation(person))?;
        equal("the kind of the conversation", &conversation.kind, &ConversationKind::Direct)?;
        written_and_read(&conversation)?;
    }
    Ok(())
}

pub(super) async fn groups(bench: &mut Bench<'_>) -> Checked {
    let group = bench.double.group()?;
    written_and_read(&group)?;
    bench.catch_up().await?;
    for mentions in [false, true] {
        let text = bench.text("To all");
        bench.double.write_in_group(BERT, &text, mentions)?;
        let is_it = |kind: &EventKind| matches!(kind, EventKind::Message(it) if it.text.contains(&text));
        let last = bench.read_until(&format!("the message {text:?} of the group"), is_it).await?.pop();
        let message = last.and_then(message).ok_or_else(|| Stop::failed("a message", "another event"))?;
        equal("the conversation of the group", &message.conversation, &group)?;
        equal("the kind of the conversation", &message.conversation.kind, &ConversationKind::Group)?;
        equal("mentions_me", &message.mentions_me, &mentions)?;
        ensure(message.sender.is_some(), "a sender", || shown(&message))?;
    }
    Ok(())
}

fn written_and_read(conversation: &Conversation) -> Checked {
    let written = conversation.to_string();
    equal(
        "the conversation as it is written and read",
        &written.parse::<Conversation>(),
        &Ok(conversation.clone()),
    )
}

fn text_of(event: &Event) -> Checked<String> {
    match &event.kind {
        EventKind::Message(message) => Ok(message.text.clone()),
        other => Err(Stop::failed("a message", shown(other))),
    }
}

/// Answers have any number of events; they begin with the same ones.
fn same_beginning(subject: &str, again: &[Event], first: &[Event]) -> Checked {
    let common = first.len().min(again.len());
    equal(subject, &again[..common], &first[..common])
}
