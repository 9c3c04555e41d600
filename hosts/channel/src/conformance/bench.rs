//! The steps of checks.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::double::{Double, Fault, Operation, Person, Sent};
use super::guard::guarded;
use super::report::{Checked, Stop, ensure, equal, shown};
use crate::channel::Channel;
use crate::error::{ReceiveError, SendError};
use crate::event::{Batch, Conversation, Event, EventKind, Incoming};
use crate::outgoing::{Action, Outgoing, Receipt};

/// The most answers without events in a row while an event waits. One may have been on its way before the event happened.
const MAX_EMPTY: usize = 2;
/// The most requests for the events of one step.
const MAX_BATCHES: usize = 200;

/// The people of the checks. Two of them have the same name.
pub(super) const ADA: Person = Person { number: 1, name: "Ada" };
pub(super) const BERT: Person = Person { number: 2, name: "Bert" };
pub(super) const OTHER_ADA: Person = Person { number: 3, name: "Ada" };
pub(super) const DORA: Person = Person { number: 5, name: "Dora" };
pub(super) const CLEO: Person = Person { number: 4, name: "Cléo 🦊" };

/// A double with the account that is checked, and the place up to which its events were read.
pub(super) struct Bench<'a> {
    pub(super) double: &'a dyn Double,
    pub(super) channel: Arc<dyn Channel>,
    /// The offset after the last event that was read.
    pub(super) offset: Option<String>,
    /// The conversation and message of each external id that was received.
    messages: BTreeMap<String, (Conversation, String)>,
    /// The external ids that two messages have.
    shared_ids: Vec<String>,
    /// Every error and value that the channel gave, as it is written.
    written: Vec<String>,
    /// The number of texts and keys so far, so that each is unique.
    count: usize,
}

impl<'a> Bench<'a> {
    pub(super) fn new(double: &'a dyn Double) -> Self {
        let channel = double.open();
        Self {
            double,
            channel,
            offset: None,
            messages: BTreeMap::new(),
            shared_ids: Vec::new(),
            written: Vec::new(),
            count: 0,
        }
    }

    /// Everything that the channel gave so far, as it is written.
    pub(super) fn written(&self) -> &[String] {
        &self.written
    }

    pub(super) fn note(&mut self, value: &impl fmt::Debug) {
        self.written.push(format!("{value:?}"));
    }

    fn note_id(&mut self, event: &Event) {
        let EventKind::Message(message) = &event.kind else { return };
        let this = (message.conversation.clone(), message.message_id.clone());
        let known = self.messages.entry(message.external_id.clone()).or_insert_with(|| this.clone());
        if *known != this {
            let (id, ((one, number), (other, other_number))) = (&message.external_id, (known, this));
            self.shared_ids.push(format!("{id:?} is {number} in {one}, and {other_number} in {other}"));
        }
    }

    /// The external ids that two messages of the run have.
    pub(super) fn shared_ids(&self) -> &[String] {
        &self.shared_ids
    }

    /// Returns a text that no other message has.
    pub(super) fn text(&mut self, subject: &str) -> String {
        self.count += 1;
        format!("{subject} {}", self.count)
    }

    /// A person writes a text that no other message has. Returns the text.
    pub(super) fn write(&mut self, person: Person, subject: &str) -> String {
        let text = self.text(subject);
        self.double.write(person, &text);
        text
    }

    /// Receives once after an offset with an account.
    pub(super) async fn receive_with(
        &mut self,
        channel: &dyn Channel,
        offset: Option<&str>,
    ) -> Checked<Result<Batch, ReceiveError>> {
        let received = guarded("receive", channel.receive(offset)).await?;
        match &received {
            Ok(batch) => {
                self.note(batch);
                batch.events.iter().for_each(|event| self.note_id(event));
            }
            Err(error) => self.written.push(format!("{error} {error:?}")),
        }
        Ok(received)
    }

    /// Returns the events of the first answer after an offset that has any.
    pub(super) async fn answer(&mut self, offset: Option<&str>) -> Checked<Vec<Event>> {
        for _ in 0..MAX_EMPTY {
            let channel = Arc::clone(&self.channel);
            let batch = self.receive_with(&*channel, offset).await?;
            let batch = batch.map_err(|error| Stop::failed("events", shown(&error)))?;
            if !batch.events.is_empty() {
                return Ok(batch.events);
            }
        }
        Err(Stop::failed(format!("events after the offset {offset:?}"), "none"))
    }

    /// Receives everything up to the event that a function looks for, and advances the offset beyond all of it.
    pub(super) async fn read_until(
        &mut self,
        subject: &str,
        is_last: impl Fn(&EventKind) -> bool + Send,
    ) -> Checked<Vec<EventKind>> {
        let (mut kinds, mut empty) = (Vec::new(), 0);
        for _ in 0..MAX_BATCHES {
            let (channel, offset) = (Arc::clone(&self.channel), self.offset.clone());
            let batch = self.receive_with(&*channel, offset.as_deref()).await?;
            let batch =
                batch.map_err(|error| Stop::failed(format!("events up to {subject}"), shown(&error)))?;
            if let Some(last) = batch.events.last() {
                self.offset = Some(last.offset.clone());
            }
            empty = if batch.events.is_empty() { empty + 1 } else { 0 };
            kinds.extend(batch.events.into_iter().map(|event| event.kind));
            if kinds.iter().any(&is_last) {
                return Ok(kinds);
            }
            if empty >= MAX_EMPTY {
                break;
            }
        }
        Err(Stop::failed(format!("events up to {subject}"), format!("these alone: {}", shown(&kinds))))
    }

    /// Receives all messages up to the one with a text, and advances the offset beyond them.
    pub(super) async fn messages_until(&mut self, text: &str) -> Checked<Vec<Incoming>> {
        let is_last = |kind: &EventKind| matches!(kind, EventKind::Message(message) if message.text == text);
        let kinds = self.read_until(&format!("the message {text:?}"), is_last).await?;
        Ok(kinds.into_iter().filter_map(message).collect())
    }

    /// Receives up to the message with a text, and returns it.
    pub(super) async fn message(&mut self, text: &str) -> Checked<Incoming> {
        let mut messages = self.messages_until(text).await?.into_iter();
        let found = messages.find(|message| message.text == text);
        found.ok_or_else(|| Stop::failed(format!("the message {text:?}"), "none"))
    }

    /// Receives everything that is there. Returns the offset after it.
    pub(super) async fn catch_up(&mut self) -> Checked<Option<String>> {
        let last = self.write(ADA, "Are you there?");
        self.messages_until(&last).await?;
        Ok(self.offset.clone())
    }

    /// Requires that exactly these texts arrive, and nothing else. A further message shows where the list ends.
    pub(super) async fn expect_texts(&mut self, mut texts: Vec<String>) -> Checked {
        texts.push(self.write(ADA, "The last one"));
        let last = texts.last().cloned().unwrap_or_default();
        let messages = self.messages_until(&last).await?;
        let seen: Vec<&String> = messages.iter().map(|message| &message.text).collect();
        equal("each message once, in order", &seen, &texts.iter().collect())
    }

    /// A part for the conversation of a person, with a key of its own.
    pub(super) fn outgoing(&mut self, person: Person, action: Action) -> Outgoing {
        let conversation = self.double.conversation(person);
        self.outgoing_in(conversation, action)
    }

    /// A part for a conversation, with a key of its own.
    pub(super) fn outgoing_in(&mut self, conversation: Conversation, action: Action) -> Outgoing {
        self.count += 1;
        let key = format!("conformance-{}", self.count);
        Outgoing { conversation, key, action, reply_to: None, silent: false }
    }

    /// Sends a part with an account.
    pub(super) async fn send_with(
        &mut self,
        channel: &dyn Channel,
        outgoing: &Outgoing,
    ) -> Checked<Result<Receipt, SendError>> {
        let sent = guarded("send", channel.send(outgoing)).await?;
        match &sent {
            Ok(receipt) => self.note(receipt),
            Err(error) => self.written.push(format!("{error} {error:?}")),
        }
        Ok(sent)
    }

    /// Sends a part.
    pub(super) async fn send(&mut self, outgoing: &Outgoing) -> Checked<Result<Receipt, SendError>> {
        let channel = Arc::clone(&self.channel);
        self.send_with(&*channel, outgoing).await
    }

    /// Sends a part that the platform takes.
    pub(super) async fn deliver(&mut self, outgoing: &Outgoing) -> Checked<Receipt> {
        let sent = self.send(outgoing).await?;
        sent.map_err(|error| Stop::failed(format!("{} is sent", described(outgoing)), shown(&error)))
    }

    /// Sends a new message that the platform takes. Returns it as the platform received it: one message, in its conversation, whose id is
    /// that of the receipt.
    pub(super) async fn deliver_new(&mut self, outgoing: &Outgoing) -> Checked<Sent> {
        let before = self.double.sent().len();
        let receipt = self.deliver(outgoing).await?;
        let mut sent = self.sent_since(before);
        ensure(sent.len() == 1, format!("{} is one message", described(outgoing)), || shown(&sent))?;
        let sent = sent.remove(0);
        equal("the conversation", &sent.conversation, &outgoing.conversation)?;
        if let Some(id) = receipt.message_id {
            equal("the id of the message in the receipt", &id, &sent.message_id)?;
        }
        Ok(sent)
    }

    /// Requires that a part is refused, and that nothing of it is sent.
    pub(super) async fn expect_refused(&mut self, subject: &str, outgoing: &Outgoing) -> Checked {
        let before = self.double.sent();
        let sent = self.send(outgoing).await?;
        ensure(matches!(sent, Err(SendError::Refused { .. })), format!("{subject} is Refused"), || {
            shown(&sent)
        })?;
        ensure(self.double.sent() == before, format!("nothing of {subject} is sent"), || {
            shown(&self.sent_since(before.len()))
        })
    }

    /// The messages that the platform received since there was this number of them.
    pub(super) fn sent_since(&self, number: usize) -> Vec<Sent> {
        self.double.sent().into_iter().skip(number).collect()
    }

    /// The message with an id, as the platform has it now.
    pub(super) fn sent(&self, like: &Sent) -> Checked<Sent> {
        let is_same =
            |sent: &Sent| sent.message_id == like.message_id && sent.conversation == like.conversation;
        let found = self.double.sent().into_iter().find(is_same);
        found.ok_or_else(|| Stop::failed("the platform keeps the message", shown(like)))
    }

    /// Lets the next request of an operation meet a fault.
    pub(super) fn inject(&self, operation: Operation, fault: Fault) -> Checked {
        Ok(self.double.inject(operation, fault)?)
    }
}

/// Returns the message of an event.
pub(super) fn message(kind: EventKind) -> Option<Incoming> {
    match kind {
        EventKind::Message(message) => Some(message),
        _ => None,
    }
}

/// A text without markup and buttons.
pub(super) fn plain(text: impl Into<String>) -> Action {
    Action::Text { plain: text.into(), markup: None, buttons: Vec::new() }
}

fn described(outgoing: &Outgoing) -> String {
    match &outgoing.action {
        Action::Text { plain, .. } => format!("the text {}", shown(plain)),
        Action::Media(media) => format!("the file of {} bytes", media.bytes.len()),
        Action::Edit { .. } => "the edit".to_owned(),
        Action::Delete { .. } => "the deletion".to_owned(),
        Action::React { .. } => "the reaction".to_owned(),
        Action::Poll { .. } => "the poll".to_owned(),
        Action::Platform { name, .. } => format!("the action {}", shown(name)),
    }
}
