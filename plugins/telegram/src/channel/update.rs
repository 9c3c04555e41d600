//! Updates in the form of the Bot API: the fields of them that are read.

use serde::Deserialize;
use serde::de::IgnoredAny;

/// The part of an update that is read first, so that any other part of it may be malformed.
#[derive(Deserialize)]
pub(super) struct Head {
    pub(super) update_id: i64,
}

/// An update: at most one of the fields is there.
#[derive(Deserialize)]
pub(super) struct Update {
    pub(super) message: Option<Message>,
    pub(super) edited_message: Option<Message>,
    pub(super) channel_post: Option<Message>,
    pub(super) edited_channel_post: Option<Message>,
    pub(super) callback_query: Option<CallbackQuery>,
}

/// A message.
#[derive(Deserialize)]
#[expect(clippy::struct_field_names, reason = "named as the platform names them")]
pub(super) struct Message {
    pub(super) message_id: i64,
    pub(super) message_thread_id: Option<i64>,
    #[serde(default)]
    pub(super) is_topic_message: bool,
    pub(super) from: Option<User>,
    pub(super) sender_chat: Option<IgnoredAny>,
    pub(super) chat: Chat,
    pub(super) edit_date: Option<i64>,
    pub(super) forward_origin: Option<IgnoredAny>,
    /// A forwarded message has it in place of `forward_origin` on servers before Bot API 7.0.
    pub(super) forward_date: Option<i64>,
    #[serde(default)]
    pub(super) is_automatic_forward: bool,
    pub(super) via_bot: Option<IgnoredAny>,
    pub(super) reply_to_message: Option<Replied>,
    pub(super) quote: Option<Quote>,
    pub(super) text: Option<String>,
    #[serde(default)]
    pub(super) entities: Vec<Entity>,
    pub(super) caption: Option<String>,
    #[serde(default)]
    pub(super) caption_entities: Vec<Entity>,
    #[serde(default)]
    pub(super) photo: Vec<Photo>,
    pub(super) document: Option<File>,
    pub(super) voice: Option<File>,
    pub(super) audio: Option<File>,
    pub(super) video: Option<File>,
    pub(super) video_note: Option<File>,
    pub(super) animation: Option<File>,
    pub(super) sticker: Option<Sticker>,
    pub(super) location: Option<Location>,
    pub(super) venue: Option<Venue>,
    pub(super) migrate_to_chat_id: Option<i64>,
}

/// The message that another one replies to.
#[derive(Deserialize)]
pub(super) struct Replied {
    pub(super) message_id: i64,
    pub(super) from: Option<User>,
    pub(super) forum_topic_created: Option<IgnoredAny>,
}

/// The part of a message that a reply quotes.
#[derive(Deserialize)]
pub(super) struct Quote {
    pub(super) text: String,
}

/// A user or bot.
#[derive(Debug, Default, Deserialize)]
pub(super) struct User {
    pub(super) id: i64,
    #[serde(default)]
    pub(super) is_bot: bool,
    #[serde(default)]
    pub(super) first_name: String,
    pub(super) last_name: Option<String>,
    pub(super) username: Option<String>,
}

/// A chat.
#[derive(Deserialize)]
pub(super) struct Chat {
    pub(super) id: i64,
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) title: Option<String>,
}

/// A part of a text with a meaning.
#[derive(Debug, Deserialize)]
pub(super) struct Entity {
    #[serde(rename = "type")]
    pub(super) kind: String,
    pub(super) offset: i64,
    pub(super) length: i64,
    pub(super) user: Option<User>,
}

/// One size of a photo.
#[derive(Deserialize)]
pub(super) struct Photo {
    pub(super) file_id: String,
    pub(super) width: u64,
    pub(super) height: u64,
    pub(super) file_size: Option<u64>,
}

/// A file of any kind.
#[derive(Deserialize)]
#[expect(clippy::struct_field_names, reason = "named as the platform names them")]
pub(super) struct File {
    pub(super) file_id: String,
    pub(super) file_name: Option<String>,
    pub(super) mime_type: Option<String>,
    pub(super) file_size: Option<u64>,
}

/// A sticker.
#[derive(Deserialize)]
pub(super) struct Sticker {
    pub(super) file_id: String,
    pub(super) emoji: Option<String>,
    #[serde(default)]
    pub(super) is_animated: bool,
    #[serde(default)]
    pub(super) is_video: bool,
    pub(super) file_size: Option<u64>,
}

/// A place.
#[derive(Deserialize)]
pub(super) struct Location {
    pub(super) latitude: f64,
    pub(super) longitude: f64,
}

/// A place with a name.
#[derive(Deserialize)]
pub(super) struct Venue {
    pub(super) title: String,
    #[serde(default)]
    pub(super) address: String,
}

/// A button that was pressed.
#[derive(Deserialize)]
pub(super) struct CallbackQuery {
    pub(super) id: String,
    pub(super) from: User,
    pub(super) message: Option<Pressed>,
    pub(super) data: Option<String>,
}

/// The message with the button. One that is too old has no more than its chat and id.
#[derive(Deserialize)]
pub(super) struct Pressed {
    pub(super) message_id: i64,
    pub(super) message_thread_id: Option<i64>,
    #[serde(default)]
    pub(super) is_topic_message: bool,
    pub(super) chat: Chat,
}
