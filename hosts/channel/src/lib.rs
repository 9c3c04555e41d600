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

mod channel;
mod error;
mod event;
mod outgoing;
mod registered;
mod service;
pub mod text;

pub use channel::{Capabilities, Channel, Future, Identity, Limits};
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
