//! The double of a platform, as the author of a channel implements it.

use std::sync::Arc;
use std::time::Duration;

use crate::channel::{Channel, Future};
use crate::event::Conversation;
use crate::outgoing::Button;

/// The reason why a double cannot do something. Checks that need it are left out, with this reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unsupported(pub String);

/// The result of a method that a double need not have.
pub type Supported<T> = Result<T, Unsupported>;

fn unsupported<T>(subject: &str) -> Supported<T> {
    Err(Unsupported(format!("the double has no {subject}")))
}

/// A person on the platform. The same number is the same person, whatever the name: people rename themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Person {
    /// The number of the person, from 1. A double makes the platform's id of it.
    pub number: u32,
    /// The name that the platform shows now. Two people may have the same.
    pub name: &'static str,
}

/// A message that the platform has received from the channel, as it is now.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sent {
    /// Its conversation.
    pub conversation: Conversation,
    /// Its id, as receipts name it.
    pub message_id: String,
    /// Its text without markup, the caption of its file, or the question of a poll.
    pub text: String,
    /// The rows of its buttons.
    pub buttons: Vec<Vec<Button>>,
    /// The options of a poll.
    pub options: Vec<String>,
    /// The bytes of its file.
    pub file: Option<Vec<u8>>,
    /// The message that it replies to.
    pub reply_to: Option<String>,
    /// True if it was sent without a sound.
    pub is_silent: bool,
    /// True if it was deleted.
    pub is_deleted: bool,
}

impl Sent {
    /// A message with a text and nothing else.
    pub fn new(conversation: Conversation, message_id: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            conversation,
            message_id: message_id.into(),
            text: text.into(),
            buttons: Vec::new(),
            options: Vec::new(),
            file: None,
            reply_to: None,
            is_silent: false,
            is_deleted: false,
        }
    }
}

/// The requests of a channel that meet a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Requests for events.
    Receive,
    /// Requests that send a new text.
    Send,
}

/// A fault of the platform or of the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// The platform gets the request, does not process it, and closes the connection without an answer.
    CutBefore,
    /// The platform processes the request, and closes the connection without an answer.
    CutAfter,
    /// The platform answers that another program receives the events (status 409). It does not process the request.
    Conflict,
    /// The platform asks to wait (status 429), and says how long. It does not process the request.
    TooMany(Duration),
    /// The platform answers with this status, from 500 up.
    ServerError(u16),
    /// The platform refuses the markup of the text. It does not process the request.
    Markup,
}

/// A request that the platform has processed, and whose answer it holds back. The answer goes when this value is dropped.
pub trait Held: Send + Sync {
    /// Waits until the platform has processed the request.
    fn reached(&self) -> Future<'_, ()>;
}

/// A double of a platform with one account: people who write to it, the messages that it received, and faults.
///
/// It serves on loopback, and keeps the rules of the platform: what the platform refuses, it refuses. What people do is there for the next
/// request for events when the method returns. Methods with a default are for what not every platform can do.
pub trait Double: Send + Sync {
    /// Opens the account anew, as after a restart of the program: nothing is known of an earlier one.
    fn open(&self) -> Arc<dyn Channel>;

    /// The conversation of a person with the account.
    fn conversation(&self, person: Person) -> Conversation;

    /// A person writes a text to the account. Returns the platform's id of the message, which is that of
    /// [`edit`](Self::edit).
    fn write(&self, person: Person, text: &str) -> String;

    /// Returns all messages that the platform has received from the channel, in order.
    fn sent(&self) -> Vec<Sent>;

    /// The texts that must be in no error, such as the token.
    fn secrets(&self) -> Vec<String>;

    /// Opens the account at an address where nobody listens: connections are refused.
    fn open_unreachable(&self) -> Supported<Arc<dyn Channel>> {
        unsupported("account that cannot be reached")
    }

    /// Lets the next request of an operation meet a fault.
    fn inject(&self, operation: Operation, fault: Fault) -> Supported<()> {
        let _ = operation;
        unsupported(&format!("fault {fault:?}"))
    }

    /// Ends all faults and holds that no request has met. It is called before each check.
    fn clear_faults(&self) {}

    /// Holds back the answer to the next request of an operation.
    fn hold(&self, operation: Operation) -> Supported<Box<dyn Held>> {
        unsupported(&format!("way to hold back an answer ({operation:?})"))
    }

    /// A person replaces the text of a message.
    fn edit(&self, person: Person, message_id: &str, text: &str) -> Supported<()> {
        let _ = (person, message_id, text);
        unsupported("person who edits")
    }

    /// A person sends a file.
    fn write_file(&self, person: Person, name: &str, bytes: &[u8]) -> Supported<()> {
        let _ = (person, name, bytes);
        unsupported("person who sends files")
    }

    /// The platform gives an event that no channel can read.
    fn write_unreadable(&self) -> Supported<()> {
        unsupported("event that cannot be read")
    }

    /// The group in which people write.
    fn group(&self) -> Supported<Conversation> {
        unsupported("group")
    }

    /// A person writes in the group. With `mentions`, the text that arrives also names the account, in the way of the platform.
    fn write_in_group(&self, person: Person, text: &str, mentions: bool) -> Supported<()> {
        let _ = (person, text, mentions);
        unsupported("person who writes in groups")
    }

    /// A person presses the button of a message of the account that has these data. Returns the platform's id of the press.
    fn press(
        &self,
        person: Person,
        conversation: &Conversation,
        message_id: &str,
        data: &str,
    ) -> Supported<String> {
        let _ = (person, conversation, message_id, data);
        unsupported("person who presses buttons")
    }

    /// Returns the text that whoever pressed a button was shown; `None` if the press is not acknowledged.
    fn acknowledged(&self, press_id: &str) -> Supported<Option<String>> {
        let _ = press_id;
        unsupported("record of acknowledgements")
    }

    /// Returns the account's reaction to a message.
    fn reaction(&self, conversation: &Conversation, message_id: &str) -> Supported<Option<String>> {
        let _ = (conversation, message_id);
        unsupported("record of reactions")
    }

    /// Gives another group a new id. Returns the earlier and the new id of the peer.
    fn move_group(&self) -> Supported<(String, String)> {
        unsupported("group that moves")
    }

    /// The largest file that the double takes. It may take less than the platform.
    fn max_file(&self) -> u64 {
        u64::MAX
    }

    /// Takes the requests that no correct client makes, for doubles that record them.
    fn take_violations(&self) -> Vec<String> {
        Vec::new()
    }
}
