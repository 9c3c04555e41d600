//! The parts that are handed to a platform.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::event::{Conversation, MediaKind};

/// One part that is sent: within the [limits](crate::Limits) of the channel.
#[derive(Debug, Clone, PartialEq)]
pub struct Outgoing {
    /// Where it goes.
    pub conversation: Conversation,
    /// A key under which a platform that has such keys sends it once.
    pub key: String,
    /// The action.
    pub action: Action,
    /// The message that it replies to.
    pub reply_to: Option<String>,
    /// True if the receiver's device makes no sound.
    pub silent: bool,
}

/// An action in a conversation.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Action {
    /// A text is sent.
    Text {
        /// The text without markup.
        plain: String,
        /// The text in the platform's own markup, if it has any.
        markup: Option<String>,
        /// Rows of buttons below it.
        buttons: Vec<Vec<Button>>,
    },
    /// A file is sent.
    Media(OutgoingMedia),
    /// The text of a message of the account is replaced.
    Edit {
        /// The message.
        message_id: String,
        /// The text without markup.
        plain: String,
        /// The text in the platform's own markup.
        markup: Option<String>,
    },
    /// A message of the account is deleted.
    Delete {
        /// The message.
        message_id: String,
    },
    /// A message gets an emoji.
    React {
        /// The message.
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
    /// An action that only one platform has. A channel that does not know the name refuses it.
    Platform {
        /// Its name.
        name: String,
        /// Its arguments, in the form of the platform's crate.
        arguments: Value,
    },
}

/// A button.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Button {
    /// Its text.
    pub text: String,
    /// The data that comes back when it is pressed: at most [`Limits::button_data`](crate::Limits::button_data) bytes.
    pub data: String,
}

/// A file that is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutgoingMedia {
    /// Its kind.
    pub kind: MediaKind,
    /// The name of the file.
    pub name: String,
    /// The media type.
    pub media_type: String,
    /// The bytes.
    pub bytes: Bytes,
    /// The caption without markup.
    pub caption: String,
    /// The caption in the platform's own markup.
    pub caption_markup: Option<String>,
}

/// The receipt of a part that arrived.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Receipt {
    /// The platform's id of the message, if it has one.
    pub message_id: Option<String>,
}
