//! The service behind `message`.

use std::fmt;
use std::pin::Pin;
use std::time::Duration;

use toolkit::Caller;
use toolkit::prelude::*;

/// Future returned by a [`MessageService`].
pub type MessageAnswer<'a, T> = Pin<Box<dyn Future<Output = Result<T, ToolError>> + Send + 'a>>;

/// Knows the chat channels of a host, and sends through them.
///
/// Each method sees only what the caller's person may use: another channel, account or conversation does not exist for it. The text of a
/// message is only text: no line of it names a file or a target.
pub trait MessageService: Send + Sync + 'static {
    /// Lists the channels that the caller may use, with their accounts and the conversations that these know. It changes nothing.
    ///
    /// # Errors
    ///
    /// `Unavailable` if the caller is in no session, or the channels cannot be read.
    fn channels<'a>(&'a self, caller: &'a Caller) -> MessageAnswer<'a, Vec<MessageChannel>>;

    /// Splits a message into the parts in which it would leave, in order. It changes nothing.
    ///
    /// # Errors
    ///
    /// `InvalidArguments` if the platform cannot take it, such as a caption or an edited text that is too long: the error names the limit.
    fn parts<'a>(
        &'a self,
        ctx: &'a ToolContext,
        message: &'a OutgoingMessage,
    ) -> MessageAnswer<'a, Vec<MessagePart>>;

    /// Stores the parts of a message, from where they leave in order, and returns them at once. A call that is made again under its id, after
    /// a crash, stores nothing and returns the parts that were stored first.
    ///
    /// The tool has checked that [`channels`](Self::channels) lists the place and that its channel can do the action, and a person or a rule
    /// has allowed it. The answer of a person may have taken long, so the service checks the place again.
    ///
    /// # Errors
    ///
    /// Nothing was stored, and nothing is sent: `InvalidArguments` if the place or the content is not possible any more, `Unavailable` if the
    /// parts could not be stored.
    fn send<'a>(&'a self, ctx: &'a ToolContext, message: OutgoingMessage)
    -> MessageAnswer<'a, Vec<SentPart>>;

    /// Waits until none of these parts is [`Prepared`](MessageState::Prepared) any more, or the time is over, and returns them as they are
    /// then. The end of the waiting does not end the sending. Ids of others do not exist for it.
    ///
    /// # Errors
    ///
    /// `Unavailable` if the parts cannot be read.
    fn outcome<'a>(
        &'a self,
        ctx: &'a ToolContext,
        ids: &'a [String],
        within: Duration,
    ) -> MessageAnswer<'a, Vec<SentPart>>;
}

/// A channel, as one caller may use it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MessageChannel {
    /// Its name, with which rules name it: the pattern of a question is `<name>:<id of the target>`.
    pub name: String,
    /// The abilities of its platform, beside sending texts.
    pub can: MessageCapabilities,
    /// Its limits.
    pub limits: MessageLimits,
    /// Its accounts.
    pub accounts: Vec<MessageAccount>,
}

/// The abilities of a platform, beside sending texts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each is a capability of its own")]
pub struct MessageCapabilities {
    /// Texts of the account can be edited.
    pub edit: bool,
    /// Messages of the account can be deleted.
    pub delete: bool,
    /// Messages can get an emoji.
    pub react: bool,
    /// Polls can be sent.
    pub poll: bool,
    /// Files can be sent.
    pub media: bool,
    /// Messages can reply to others.
    pub reply: bool,
    /// Messages can be sent without a sound.
    pub silent: bool,
}

/// The limits of a platform that do not depend on how it splits texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageLimits {
    /// The most bytes of a file.
    pub media_bytes: u64,
    /// The most options of a poll.
    pub poll_options: usize,
}

impl Default for MessageLimits {
    /// 5 MiB for a file, and 10 options.
    fn default() -> Self {
        Self { media_bytes: 5 << 20, poll_options: 10 }
    }
}

/// An account of a channel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MessageAccount {
    /// Its id.
    pub id: String,
    /// The conversations that it knows and that the caller may write to.
    pub targets: Vec<MessageTarget>,
}

/// A conversation that a caller may write to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MessageTarget {
    /// Its id, in the one form that rules use.
    pub id: String,
    /// Its name, for people and for the model, which reads it with the tool's description. It comes from the operator, never from the platform,
    /// where strangers choose names.
    pub name: Option<String>,
    /// True for the conversation that the caller is in. At most one is.
    pub is_own: bool,
}

/// A message to be sent, or another action in a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutgoingMessage {
    /// The channel.
    pub channel: String,
    /// The account.
    pub account_id: String,
    /// The id of the conversation.
    pub target: String,
    /// The content, or the action.
    pub content: MessageContent,
    /// The platform's id of the message that it replies to.
    pub reply_to: Option<String>,
    /// True if the receiver's device makes no sound.
    pub silent: bool,
}

/// The content of a message, or another action in a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MessageContent {
    /// A text, then files in their order. At least one of both.
    Send {
        /// The text.
        text: Option<String>,
        /// The files.
        media: Vec<MessageMedia>,
        /// The caption of the first file.
        caption: Option<String>,
    },
    /// The text of a message of the account is replaced.
    Edit {
        /// The platform's id of the message.
        message_id: String,
        /// The new text.
        text: String,
    },
    /// A message of the account is deleted.
    Delete {
        /// The platform's id of the message.
        message_id: String,
    },
    /// A message gets an emoji.
    React {
        /// The platform's id of the message.
        message_id: String,
        /// The emoji; an empty text takes the reaction back.
        emoji: String,
    },
    /// A poll is sent.
    Poll {
        /// The question.
        question: String,
        /// The options.
        options: Vec<String>,
        /// True if several options may be chosen.
        multiple: bool,
    },
}

/// A file to be sent, with the bytes that were allowed.
#[derive(Clone, PartialEq, Eq)]
pub struct MessageMedia {
    /// Its name: one component of a path, without control characters.
    pub name: String,
    /// Its media type, by its content.
    pub media_type: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The SHA-256 of the bytes, in hexadecimal digits.
    pub sha256: String,
}

impl fmt::Debug for MessageMedia {
    /// Writes the digest in place of the bytes: the text names the content, and stays short.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, media_type, bytes, sha256 } = self;
        f.debug_struct("MessageMedia")
            .field("name", name)
            .field("media_type", media_type)
            .field("bytes", &bytes.len())
            .field("sha256", sha256)
            .finish()
    }
}

/// The kind of a part.
#[toolkit::args]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum MessagePartKind {
    /// A text.
    Text,
    /// A file.
    Media,
    /// A text that replaces another.
    Edit,
    /// The removal of a message.
    Delete,
    /// An emoji on a message.
    React,
    /// A poll.
    Poll,
}

/// A part in which a message would leave.
#[toolkit::args]
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessagePart {
    /// Its kind.
    pub kind: MessagePartKind,
    /// Its text, caption, emoji or question.
    pub text: Option<String>,
    /// The name of its file.
    pub file: Option<String>,
}

/// How far a part is.
#[toolkit::args]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum MessageState {
    /// It waits, or is on its way.
    Prepared,
    /// It arrived.
    Delivered,
    /// Nobody knows: it is never sent again by itself.
    Unknown,
    /// It will not be sent.
    Dead,
}

/// A part that is stored.
#[toolkit::args]
#[derive(Debug, Clone, PartialEq, Eq)]
#[serde(rename_all = "camelCase")]
pub struct SentPart {
    /// Its id in the outbox.
    pub id: String,
    /// How far it is.
    pub state: MessageState,
    /// Why it is there.
    pub reason: Option<String>,
    /// The platform's id of the message, with which it is edited or deleted.
    pub message_id: Option<String>,
}
