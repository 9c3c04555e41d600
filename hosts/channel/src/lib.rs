//! Chat channels: what a platform such as Telegram must do, so that people talk to agents through it.
//!
//! A crate implements [`Channel`] for one account of a platform, and registers the platform with [`channel!`]. A gateway that links the
//! crate opens the accounts that its configuration names, stores each message before the platform may forget it, checks the sender before
//! anything costs, and sends answers in parts that fit the [limits](Limits) of the platform.
//!
//! ```text
//! platform ──receive──► Batch of events ──► gateway: sender, inbox, run
//! platform ◄───send──── Outgoing        ◄── gateway: outbox
//! ```
//!
//! With the feature `conformance`, the module `conformance` checks a channel against a double of its platform.

mod abilities;
mod channel;
mod check;
#[cfg(feature = "conformance")]
pub mod conformance;
mod error;
mod event;
mod outgoing;
mod registered;
mod service;
pub mod text;

pub use abilities::{Capabilities, Limits};
pub use channel::{Channel, Future, Identity};
pub use error::{ReceiveError, SendError};
pub use event::{
    Batch, Conversation, ConversationError, ConversationKind, Event, EventKind, Incoming, Media, MediaKind,
    Place, Press, Sender,
};
pub use outgoing::{Action, Button, Outgoing, OutgoingMedia, Receipt};
#[doc(hidden)]
pub use registered::open_each;
pub use registered::{Account, Accounts, OpenError, Registered, registered};
pub use service::{
    ActionOutcome, ActionState, PlatformAction, PlatformConversation, PlatformService, WantedConversation,
};

#[doc(hidden)]
pub use toolkit;
