//! The trait of a channel.

use std::pin::Pin;

use bytes::Bytes;
use serde::Serialize;

use crate::abilities::{Capabilities, Limits};
use crate::check;
use crate::error::{ReceiveError, SendError};
use crate::event::{Batch, Conversation, Media};
use crate::outgoing::{Outgoing, Receipt};
use crate::text::{Markup, Style, Unit};

/// The future of an operation of a channel.
pub type Future<'a, T> = Pin<Box<dyn std::future::Future<Output = T> + Send + 'a>>;

/// Who the account is on its platform.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Identity {
    /// The platform's stable id.
    pub id: String,
    /// The name that people see, such as `@family_bot`.
    pub name: String,
}

/// One account on a platform. Each operation bounds its own time; a future that is dropped ends what it does.
pub trait Channel: Send + Sync + 'static {
    /// The abilities of its platform.
    fn capabilities(&self) -> Capabilities;

    /// Its limits.
    fn limits(&self) -> Limits;

    /// The form of its texts. The maximum is that of [`limits`](Self::limits).
    fn style(&self) -> Style {
        Style { markup: Markup::Plain, unit: Unit::Chars, max: self.limits().text }
    }

    /// Asks the platform who the account is. The id stays the same as long as its events and messages are counted on.
    fn identify(&self) -> Future<'_, Result<Identity, ReceiveError>>;

    /// Waits for events after an offset: at most about a minute, then it returns an empty batch. The same offset again returns the same
    /// events, as long as no later one was given: only then the platform may forget them. Called again once all of them are stored.
    fn receive<'a>(&'a self, offset: Option<&'a str>) -> Future<'a, Result<Batch, ReceiveError>>;

    /// Sends one part. It is called for one part of a conversation at a time, in order; for different conversations at the same time.
    fn send<'a>(&'a self, outgoing: &'a Outgoing) -> Future<'a, Result<Receipt, SendError>>;

    /// Refuses a part that needs an ability which the platform lacks, or that is beyond its limits: a first line for
    /// [`send`](Self::send). Platforms whose answers say the same do not need it.
    fn check(&self, outgoing: &Outgoing) -> Result<(), SendError> {
        check::check(&self.capabilities(), &self.limits(), self.style().unit, &outgoing.action)
    }

    /// Gets the bytes of a medium that came with a message. A longer one than `max` bytes is an error.
    fn fetch<'a>(&'a self, media: &'a Media, max: u64) -> Future<'a, Result<Bytes, ReceiveError>>;

    /// Shows that an answer is being written. Nothing depends on it.
    fn typing<'a>(&'a self, conversation: &'a Conversation) -> Future<'a, ()> {
        let _ = conversation;
        Box::pin(std::future::ready(()))
    }

    /// Tells whoever pressed a button what came of it.
    fn acknowledge<'a>(&'a self, press_id: &'a str, text: &'a str) -> Future<'a, ()> {
        let _ = (press_id, text);
        Box::pin(std::future::ready(()))
    }
}
