//! The events that a platform hands over.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Events in the order of the platform, as they were received at once.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Batch {
    /// The events, each with the place up to which the platform was read once it is stored.
    pub events: Vec<Event>,
}

/// Something that happened, and the place up to which the platform was read with it.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// The offset to continue from, once this event is stored. It is stored in the same transaction.
    pub offset: String,
    /// The thing that happened.
    pub kind: EventKind,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum EventKind {
    /// Somebody wrote.
    Message(Incoming),
    /// Somebody pressed a button.
    Press(Press),
    /// A conversation has another id.
    Moved {
        /// The earlier id of the peer.
        from: String,
        /// The new id of the peer.
        to: String,
    },
    /// Nothing that a channel passes on; the offset alone advances.
    Other,
}

/// The kinds of conversations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ConversationKind {
    /// With one person.
    Direct,
    /// With several people.
    Group,
    /// One in which few write and many read.
    Channel,
}

/// A conversation on a platform.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Conversation {
    /// Its kind.
    pub kind: ConversationKind,
    /// The platform's stable id of the person or group, never a user name.
    pub peer: String,
    /// The topic or thread within it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
}

impl Conversation {
    /// A conversation without a thread.
    pub fn new(kind: ConversationKind, peer: impl Into<String>) -> Self {
        Self { kind, peer: peer.into(), thread: None }
    }

    /// A direct conversation.
    pub fn direct(peer: impl Into<String>) -> Self {
        Self::new(ConversationKind::Direct, peer)
    }

    /// Sets the thread.
    #[must_use]
    pub fn with_thread(mut self, thread: impl Into<Option<String>>) -> Self {
        self.thread = thread.into();
        self
    }
}

/// Written as `direct/123`, or `group/-100/7` with a thread; in peers and threads `%` and `/` are percent-encoded.
impl fmt::Display for Conversation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            ConversationKind::Direct => "direct",
            ConversationKind::Group => "group",
            ConversationKind::Channel => "channel",
        };
        write!(f, "{kind}/{}", encoded(&self.peer))?;
        match &self.thread {
            Some(thread) => write!(f, "/{}", encoded(thread)),
            None => Ok(()),
        }
    }
}

/// A text that names no conversation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` names no conversation: one is `direct/PEER`, `group/PEER` or `channel/PEER`, with `/THREAD` if it has threads"
)]
pub struct ConversationError(String);

impl FromStr for Conversation {
    type Err = ConversationError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || ConversationError(text.escape_debug().to_string());
        let mut steps = text.split('/');
        let kind = match steps.next() {
            Some("direct") => ConversationKind::Direct,
            Some("group") => ConversationKind::Group,
            Some("channel") => ConversationKind::Channel,
            _ => return Err(error()),
        };
        let mut step =
            || steps.next().map(|step| decoded(step).filter(|step| !step.is_empty()).ok_or_else(error));
        let peer = step().ok_or_else(error)??;
        let thread = step().transpose()?;
        if steps.next().is_some() {
            return Err(error());
        }
        Ok(Self { kind, peer, thread })
    }
}

fn encoded(text: &str) -> String {
    text.replace('%', "%25").replace('/', "%2F")
}

fn decoded(step: &str) -> Option<String> {
    let text = step.replace("%2F", "/").replace("%25", "%");
    // Each conversation has one form.
    (encoded(&text) == step).then_some(text)
}

/// Somebody who wrote or pressed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sender {
    /// The platform's stable id, never a user name.
    pub id: String,
    /// The name that the platform shows. Anybody can choose any.
    pub name: String,
    /// True for another bot, or for the platform itself.
    pub is_bot: bool,
}

/// A message that was received.
#[derive(Debug, Clone, PartialEq)]
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct Incoming {
    /// Its id, unique in the account: the same id is the same message. An edited one has an id of its own.
    pub external_id: String,
    /// The platform's id of it in its conversation, for replies.
    pub message_id: String,
    /// Its conversation.
    pub conversation: Conversation,
    /// The title of the group.
    pub title: Option<String>,
    /// Who sent it; `None` where the platform does not say, as in a channel.
    pub sender: Option<Sender>,
    /// Its text, or the caption of its media.
    pub text: String,
    /// Its media, which are fetched after the sender is checked.
    pub media: Vec<Media>,
    /// A place that was sent.
    pub place: Option<Place>,
    /// The message that it replies to.
    pub reply_to: Option<String>,
    /// True if it replies to a message of the account.
    pub replies_to_me: bool,
    /// The part of another message that it quotes, which somebody else may have written. It is no part of the text.
    pub quote: Option<String>,
    /// True if it names the account.
    pub mentions_me: bool,
    /// True if its text is somebody else's: forwarded, or sent by way of another bot.
    pub is_forwarded: bool,
    /// True if it replaces one that was received before.
    pub is_edited: bool,
}

impl Incoming {
    /// A message of a person with a text.
    pub fn text(
        external_id: impl Into<String>,
        conversation: Conversation,
        sender: Sender,
        text: impl Into<String>,
    ) -> Self {
        let external_id = external_id.into();
        Self {
            message_id: external_id.clone(),
            external_id,
            conversation,
            title: None,
            sender: Some(sender),
            text: text.into(),
            media: Vec::new(),
            place: None,
            reply_to: None,
            replies_to_me: false,
            quote: None,
            mentions_me: false,
            is_forwarded: false,
            is_edited: false,
        }
    }
}

/// The kinds of media.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum MediaKind {
    /// A picture.
    Image,
    /// A voice note.
    Voice,
    /// Other sound.
    Audio,
    /// A film.
    Video,
    /// Any other file.
    Document,
}

/// Something that came with a message, not fetched yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Media {
    /// Its kind.
    pub kind: MediaKind,
    /// The reference by which [`Channel::fetch`](crate::Channel::fetch) gets it.
    pub reference: String,
    /// The name of the file, as the sender chose it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The media type, as the platform says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// The size in bytes, as the platform says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
}

/// A place on the earth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    /// Degrees north, from -90 to 90.
    pub latitude: f64,
    /// Degrees east, from -180 to 180.
    pub longitude: f64,
}

/// A button that was pressed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Press {
    /// The id under which it is [acknowledged](crate::Channel::acknowledge).
    pub id: String,
    /// Who pressed it.
    pub sender: Sender,
    /// The conversation of the message with the button.
    pub conversation: Conversation,
    /// The message with the button.
    pub message_id: String,
    /// The button's data, as it was [sent](crate::Button::data). Clients can send any text.
    pub data: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_is_read_as_it_is_written() {
        for peer in ["1", "-100", "a/b", "%2F", "50%", "%252F"] {
            for kind in [ConversationKind::Direct, ConversationKind::Group, ConversationKind::Channel] {
                for thread in [None, Some("7".to_owned()), Some("x/%".to_owned())] {
                    let conversation = Conversation::new(kind, peer).with_thread(thread);
                    assert_eq!(conversation.to_string().parse(), Ok(conversation.clone()), "{conversation}");
                }
            }
        }
    }

    #[test]
    fn other_texts_name_none() {
        for text in
            ["", "direct", "direct/", "person/1", "direct/1/", "direct/1/2/3", "direct/50%", "direct/a%2fb"]
        {
            text.parse::<Conversation>().expect_err(text);
        }
    }
}
