//! A platform within the test: what people say to it, and what it was sent.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use tokio::sync::Notify;
use toolkit_channel::text::{Markup, Style, Unit};
use toolkit_channel::{
    Action, Batch, Capabilities, Channel, Conversation, ConversationKind, Event, EventKind, Future, Identity,
    Incoming, Limits, Media, MediaKind, Outgoing, Press, Receipt, ReceiveError, SendError, Sender,
};

use crate::agents::in_time;

/// The longest text of the platform.
pub(super) const MAX_TEXT: usize = 400;

/// A picture of one pixel.
pub(super) const PNG: &[u8] = &[
    0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0x00, 0x00, 0x00, 0x0D, 0x49, 0x48, 0x44, 0x52, 0x00,
    0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x02, 0x00, 0x00, 0x00, 0x90, 0x77, 0x53, 0xDE, 0x00,
    0x00, 0x00, 0x0C, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9C, 0x63, 0x50, 0x70, 0x38, 0x00, 0x00, 0x01, 0xA4,
    0x01, 0x21, 0xF7, 0x16, 0x45, 0xF0, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4E, 0x44, 0xAE, 0x42, 0x60,
    0x82,
];

#[derive(Clone, Default)]
pub(super) struct Platform(Arc<Inner>);

#[derive(Default)]
struct Inner {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    events: Vec<Event>,
    /// Fails as often as this before it answers again.
    failures: u32,
    sent: BTreeMap<String, VecDeque<Outgoing>>,
    all_sent: usize,
    acknowledged: Vec<(String, String)>,
    fetched: usize,
    /// No file is handed over.
    holds_files: bool,
    /// The first part is refused because of its markup.
    refuses_markup: bool,
    /// How often the account was made anew.
    accounts: usize,
}

pub(super) fn sender(id: &str) -> Sender {
    Sender { id: id.to_owned(), name: format!("Person {id}"), is_bot: false }
}

impl Platform {
    fn add(&self, make: impl FnOnce(usize) -> EventKind) {
        let mut state = self.0.state.lock().unwrap();
        let number = state.events.len() + 1;
        let kind = make(number);
        state.events.push(Event { offset: number.to_string(), kind });
        drop(state);
        self.0.changed.notify_waiters();
    }

    /// Somebody writes directly.
    pub(super) fn say(&self, from: &str, text: &str) {
        self.message(Conversation::direct(from), from, text, |_| {});
    }

    /// Somebody writes in a group.
    pub(super) fn say_in(&self, group: &str, from: &str, text: &str, change: impl FnOnce(&mut Incoming)) {
        self.message(Conversation::new(ConversationKind::Group, group), from, text, change);
    }

    pub(super) fn message(
        &self,
        conversation: Conversation,
        from: &str,
        text: &str,
        change: impl FnOnce(&mut Incoming),
    ) {
        self.add(|number| {
            let mut incoming = Incoming::text(format!("m{number}"), conversation, sender(from), text);
            change(&mut incoming);
            EventKind::Message(incoming)
        });
    }

    /// Hands over the event with a number again, as after an offset that was lost.
    pub(super) fn repeat(&self, number: usize) {
        let kind = self.0.state.lock().unwrap().events[number - 1].kind.clone();
        self.add(|_| kind);
    }

    pub(super) fn press(&self, from: &str, data: &str) {
        self.add(|number| {
            EventKind::Press(Press {
                id: format!("p{number}"),
                sender: sender(from),
                conversation: Conversation::direct(from),
                message_id: "1".to_owned(),
                data: data.to_owned(),
            })
        });
    }

    pub(super) fn moved(&self, from: &str, to: &str) {
        self.add(|_| EventKind::Moved { from: from.to_owned(), to: to.to_owned() });
    }

    pub(super) fn fail(&self, times: u32) {
        self.0.state.lock().unwrap().failures = times;
        self.0.changed.notify_waiters();
    }

    /// Makes the account anew, with another id: events and messages are counted from one again.
    pub(super) fn make_anew(&self) {
        let mut state = self.0.state.lock().unwrap();
        state.accounts += 1;
        state.events.clear();
    }

    pub(super) fn refuse_markup(&self) {
        self.0.state.lock().unwrap().refuses_markup = true;
    }

    /// Waits for the next part that was sent to a conversation.
    pub(super) async fn next_part(&self, conversation: &str) -> Outgoing {
        in_time(async {
            loop {
                let changed = self.0.changed.notified();
                let found =
                    self.0.state.lock().unwrap().sent.get_mut(conversation).and_then(VecDeque::pop_front);
                if let Some(found) = found {
                    return found;
                }
                changed.await;
            }
        })
        .await
    }

    /// Waits for the next part, and returns its text.
    pub(super) async fn next(&self, conversation: &str) -> String {
        match self.next_part(conversation).await.action {
            Action::Text { plain, .. } => plain,
            other => panic!("{other:?}"),
        }
    }

    /// The texts that were sent to a conversation, and that nobody has looked at.
    pub(super) fn left(&self, conversation: &str) -> Vec<String> {
        let left = self.0.state.lock().unwrap().sent.remove(conversation).unwrap_or_default();
        left.into_iter()
            .filter_map(|part| match part.action {
                Action::Text { plain, .. } => Some(plain),
                _ => None,
            })
            .collect()
    }

    /// Waits until a press was acknowledged, and returns the text.
    pub(super) async fn acknowledged(&self, number: usize) -> String {
        in_time(async {
            loop {
                let changed = self.0.changed.notified();
                if let Some((_, text)) = self.0.state.lock().unwrap().acknowledged.get(number) {
                    return text.clone();
                }
                changed.await;
            }
        })
        .await
    }

    /// How many parts were sent in all, whether anybody has looked at them or not.
    pub(super) fn all_sent(&self) -> usize {
        self.0.state.lock().unwrap().all_sent
    }

    /// Hands over no file, or all again.
    pub(super) fn hold_files(&self, holds: bool) {
        self.0.state.lock().unwrap().holds_files = holds;
        self.0.changed.notify_waiters();
    }

    /// Waits until so many files were asked for.
    pub(super) async fn asked_for_files(&self, count: usize) {
        in_time(async {
            loop {
                let changed = self.0.changed.notified();
                if self.fetched() >= count {
                    return;
                }
                changed.await;
            }
        })
        .await;
    }

    /// How many files were asked for.
    pub(super) fn fetched(&self) -> usize {
        self.0.state.lock().unwrap().fetched
    }

    /// Waits until all that was said is stored: the gateway has asked for what comes after it.
    pub(super) async fn is_read(&self, gateway: &toolkit_gateway::Gateway) {
        let store = gateway.state().store();
        let mut last = store.last_event();
        in_time(async {
            loop {
                let (all, account) = {
                    let state = self.0.state.lock().unwrap();
                    (state.events.len().to_string(), state.accounts)
                };
                if store.offset(format!("post:box:{account}")).await.unwrap().as_deref() == Some(&*all) {
                    return;
                }
                // An event that is passed over is none of the store.
                let _ = tokio::time::timeout(std::time::Duration::from_millis(20), last.changed()).await;
            }
        })
        .await;
    }
}

impl Channel for Platform {
    fn capabilities(&self) -> Capabilities {
        let mut capabilities = Capabilities::default();
        (capabilities.buttons, capabilities.media, capabilities.silent) = (true, true, true);
        capabilities
    }

    fn limits(&self) -> Limits {
        Limits::new(MAX_TEXT, 50)
    }

    fn style(&self) -> Style {
        Style { markup: Markup::Html, unit: Unit::Chars, max: MAX_TEXT }
    }

    fn identify(&self) -> Future<'_, Result<Identity, ReceiveError>> {
        let id = self.0.state.lock().unwrap().accounts.to_string();
        Box::pin(async { Ok(Identity { id, name: "@post_box".to_owned() }) })
    }

    fn receive<'a>(&'a self, offset: Option<&'a str>) -> Future<'a, Result<Batch, ReceiveError>> {
        let after: usize = offset.map_or(0, |offset| offset.parse().unwrap());
        Box::pin(async move {
            loop {
                let changed = self.0.changed.notified();
                {
                    let mut state = self.0.state.lock().unwrap();
                    if state.failures > 0 {
                        state.failures -= 1;
                        return Err(ReceiveError::new("the line is down"));
                    }
                    if state.events.len() > after {
                        return Ok(Batch { events: state.events[after..].to_vec() });
                    }
                }
                changed.await;
            }
        })
    }

    fn send<'a>(&'a self, outgoing: &'a Outgoing) -> Future<'a, Result<Receipt, SendError>> {
        Box::pin(async move {
            let mut state = self.0.state.lock().unwrap();
            if let Action::Text { plain, markup, .. } = &outgoing.action {
                assert!(plain.chars().count() <= MAX_TEXT, "{plain}");
                if markup.is_some() && std::mem::take(&mut state.refuses_markup) {
                    return Err(SendError::Markup { reason: "cannot parse".to_owned() });
                }
            }
            state.all_sent += 1;
            let id = state.all_sent.to_string();
            state.sent.entry(outgoing.conversation.to_string()).or_default().push_back(outgoing.clone());
            drop(state);
            self.0.changed.notify_waiters();
            Ok(Receipt { message_id: Some(id) })
        })
    }

    fn fetch<'a>(&'a self, media: &'a Media, _: u64) -> Future<'a, Result<Bytes, ReceiveError>> {
        Box::pin(async {
            self.0.state.lock().unwrap().fetched += 1;
            self.0.changed.notify_waiters();
            loop {
                let changed = self.0.changed.notified();
                if !self.0.state.lock().unwrap().holds_files {
                    break;
                }
                changed.await;
            }
            Ok(match media.kind {
                MediaKind::Voice => Bytes::from_static(b"OggS and speech"),
                MediaKind::Image => Bytes::from_static(PNG),
                _ => Bytes::from_static(b"content"),
            })
        })
    }

    fn acknowledge<'a>(&'a self, press_id: &'a str, text: &'a str) -> Future<'a, ()> {
        Box::pin(async move {
            self.0.state.lock().unwrap().acknowledged.push((press_id.to_owned(), text.to_owned()));
            self.0.changed.notify_waiters();
        })
    }
}
