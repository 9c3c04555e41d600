//! A platform within the test: what people say to it, and what it was sent.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use tokio::sync::Notify;
use toolkit_channel::text::{Markup, Style, Unit};
use toolkit_channel::{
    Action, Batch, Capabilities, Channel, Conversation, ConversationKind, Event, EventKind, Future, Identity,
    Incoming, Limits, Media, Outgoing, Press, Receipt, ReceiveError, SendError, Sender,
};

use crate::agents::in_time;

/// The longest text of the platform.
pub(super) const MAX_TEXT: usize = 400;

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
    /// The first part is refused because of its markup.
    refuses_markup: bool,
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

    pub(super) fn failures_left(&self) -> u32 {
        self.0.state.lock().unwrap().failures
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

    pub(super) fn fetched(&self) -> usize {
        self.0.state.lock().unwrap().fetched
    }

    /// Waits until all that was said is stored: the gateway has asked for what comes after it.
    pub(super) async fn is_read(&self, gateway: &toolkit_gateway::Gateway) {
        let store = gateway.state().store();
        let mut last = store.last_event();
        in_time(async {
            loop {
                let all = self.0.state.lock().unwrap().events.len().to_string();
                if store.offset("post:box".to_owned()).await.unwrap().as_deref() == Some(&*all) {
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
        Box::pin(async { Ok(Identity { id: "0".to_owned(), name: "@box".to_owned() }) })
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

    fn fetch<'a>(&'a self, _: &'a Media, _: u64) -> Future<'a, Result<Bytes, ReceiveError>> {
        Box::pin(async {
            self.0.state.lock().unwrap().fetched += 1;
            Ok(Bytes::from_static(b"content"))
        })
    }

    fn acknowledge<'a>(&'a self, press_id: &'a str, text: &'a str) -> Future<'a, ()> {
        Box::pin(async move {
            self.0.state.lock().unwrap().acknowledged.push((press_id.to_owned(), text.to_owned()));
            self.0.changed.notify_waiters();
        })
    }
}
