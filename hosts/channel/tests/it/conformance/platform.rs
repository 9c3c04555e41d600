//! A small platform in memory: what people write, what it received, and faults.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use toolkit_channel::conformance::{Fault, Held, Operation, Person, Sent};
use toolkit_channel::{Button, Conversation, Future};

/// The limits of the platform. It counts UTF-16 units.
pub(super) const MAX_TEXT: usize = 200;
pub(super) const MAX_CAPTION: usize = 50;
pub(super) const MAX_OPTIONS: usize = 4;
pub(super) const MAX_DATA: usize = 16;
pub(super) const MAX_FILE: usize = 2000;
/// The token of the account.
pub(super) const TOKEN: &str = "the-token-of-the-account";

/// Something that happened on the platform.
#[derive(Debug, Clone)]
pub(super) enum Happening {
    Wrote(Wrote),
    Pressed {
        id: String,
        person: Person,
        conversation: Conversation,
        message_id: String,
        data: String,
    },
    Moved {
        from: String,
        to: String,
    },
    /// Something that no channel can read.
    Strange,
}

#[derive(Debug, Clone)]
pub(super) struct Wrote {
    pub(super) person: Person,
    pub(super) conversation: Conversation,
    /// The number of the message in its conversation.
    pub(super) number: u64,
    pub(super) text: String,
    pub(super) mentions: bool,
    pub(super) file: Option<String>,
    pub(super) is_edited: bool,
}

/// The failure of a request.
#[derive(Debug, Clone)]
pub(super) enum Failure {
    Unreachable,
    Cut,
    Status(u16, Option<Duration>),
    Markup,
    Moved(String),
    Refused(&'static str),
}

/// A new message of the account.
#[derive(Debug, Clone)]
pub(super) struct Posting {
    pub(super) sent: Sent,
    pub(super) key: Option<String>,
    /// The text in HTML, in place of the plain one.
    pub(super) html: Option<String>,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) events: BTreeMap<u64, Happening>,
    next_event: u64,
    numbers: BTreeMap<String, u64>,
    pub(super) wrote: BTreeMap<String, Wrote>,
    pub(super) sent: Vec<Sent>,
    keys: BTreeMap<String, String>,
    pub(super) files: BTreeMap<String, Vec<u8>>,
    pub(super) acknowledged: BTreeMap<String, String>,
    pub(super) faults: Vec<(Operation, Fault)>,
    pub(super) holds: Vec<(Operation, watch::Sender<bool>, watch::Receiver<bool>)>,
    pub(super) group: u64,
}

#[derive(Clone, Default)]
pub(super) struct Platform(Arc<Mutex<State>>);

impl Platform {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Processes a request, which takes its time on the way there and back.
    pub(super) async fn request<T>(
        &self,
        operation: Option<Operation>,
        process: impl FnOnce(&mut State) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        tokio::task::yield_now().await;
        let fault = {
            let faults = &mut self.state().faults;
            let place = faults.iter().position(|(of, _)| Some(*of) == operation);
            place.map(|place| faults.remove(place).1)
        };
        let answer = match fault {
            None => process(&mut self.state()),
            Some(Fault::CutBefore) => Err(Failure::Cut),
            Some(Fault::CutAfter) => process(&mut self.state()).and(Err(Failure::Cut)),
            Some(Fault::Conflict) => Err(Failure::Status(409, None)),
            Some(Fault::TooMany(wait)) => Err(Failure::Status(429, Some(wait))),
            Some(Fault::ServerError(status)) => Err(Failure::Status(status, None)),
            Some(Fault::Markup) => Err(Failure::Markup),
            Some(other) => panic!("{other:?}"),
        };
        let hold = {
            let holds = &mut self.state().holds;
            let place = holds.iter().position(|(of, ..)| Some(*of) == operation);
            place.map(|place| holds.remove(place))
        };
        if let Some((_, reached, mut released)) = hold {
            reached.send_replace(true);
            let _ = released.changed().await;
        }
        tokio::task::yield_now().await;
        answer
    }
}

impl State {
    pub(super) fn happen(&mut self, happening: Happening) {
        self.next_event += 1;
        self.events.insert(self.next_event, happening);
    }

    pub(super) fn number(&mut self, conversation: &Conversation) -> u64 {
        let number = self.numbers.entry(conversation.to_string()).or_default();
        *number += 1;
        *number
    }

    pub(super) fn group(&self) -> Conversation {
        Conversation::new(toolkit_channel::ConversationKind::Group, format!("g{}", self.group))
    }

    /// Sends a message, once for each key.
    pub(super) fn post(&mut self, posting: Posting) -> Result<String, Failure> {
        let Posting { mut sent, key, html } = posting;
        if let Some(known) = key.as_ref().and_then(|key| self.keys.get(key)) {
            return Ok(known.clone());
        }
        if sent.conversation.peer.starts_with('g') && sent.conversation != self.group() {
            return Err(Failure::Moved(self.group().peer));
        }
        if let Some(html) = html {
            sent.text = without_tags(&html);
        }
        check(&sent)?;
        sent.message_id = self.number(&sent.conversation).to_string();
        if let Some(key) = key {
            self.keys.insert(key, sent.message_id.clone());
        }
        self.sent.push(sent.clone());
        Ok(sent.message_id)
    }

    pub(super) fn sent_mut(
        &mut self,
        conversation: &Conversation,
        message_id: &str,
    ) -> Result<&mut Sent, Failure> {
        let found = self
            .sent
            .iter_mut()
            .find(|sent| sent.message_id == message_id && sent.conversation == *conversation);
        found.ok_or(Failure::Refused("no such message"))
    }
}

/// Refuses what is beyond the limits of the platform.
pub(super) fn check(sent: &Sent) -> Result<(), Failure> {
    let max = if sent.file.is_some() { MAX_CAPTION } else { MAX_TEXT };
    if sent.text.encode_utf16().count() > max {
        return Err(Failure::Refused("too long"));
    }
    if sent.file.as_ref().is_some_and(|file| file.len() > MAX_FILE) {
        return Err(Failure::Refused("too large"));
    }
    let is_long = |button: &Button| button.data.len() > MAX_DATA;
    if sent.buttons.iter().flatten().any(is_long) || sent.options.len() > MAX_OPTIONS {
        return Err(Failure::Refused("too many"));
    }
    Ok(())
}

pub(super) fn without_tags(html: &str) -> String {
    let mut text = String::new();
    let mut is_tag = false;
    for char in html.chars() {
        match char {
            '<' => is_tag = true,
            '>' if is_tag => is_tag = false,
            char if !is_tag => text.push(char),
            _ => {}
        }
    }
    text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"").replace("&amp;", "&")
}

/// An answer that is held back.
pub(super) struct Holding {
    pub(super) reached: watch::Receiver<bool>,
    pub(super) _released: watch::Sender<bool>,
}

impl Held for Holding {
    fn reached(&self) -> Future<'_, ()> {
        Box::pin(async {
            let _ = self.reached.clone().wait_for(|reached| *reached).await;
        })
    }
}
