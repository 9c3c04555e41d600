//! Messages of users.

use super::file::File;
use super::world::User;
use serde_json::{Map, Value, json};

/// A message that a user sends.
#[derive(Debug, Clone)]
pub struct UserMessage {
    pub(super) from: Option<User>,
    pub(super) fields: Map<String, Value>,
    /// The file, with the name of its field.
    pub(super) file: Option<(&'static str, File)>,
    pub(super) reply_to: Option<i64>,
    pub(super) is_anonymous: bool,
}

impl UserMessage {
    fn new(from: &User, fields: Value) -> Self {
        let fields = if let Value::Object(fields) = fields { fields } else { Map::new() };
        Self { from: Some(from.clone()), fields, file: None, reply_to: None, is_anonymous: false }
    }

    fn of_file(from: &User, field: &'static str, file: File) -> Self {
        Self { file: Some((field, file)), ..Self::new(from, json!({})) }
    }

    /// A text. Its mentions and commands become entities.
    pub fn text(from: &User, text: &str) -> Self {
        Self::new(from, json!({ "text": text, "entities": entities(text) }))
    }

    /// A photo, which the server has in smaller sizes too.
    pub fn photo(from: &User, bytes: &[u8]) -> Self {
        Self::of_file(from, "photo", File::new("", "image/jpeg", bytes))
    }

    /// A voice note.
    pub fn voice(from: &User, bytes: &[u8]) -> Self {
        Self::of_file(from, "voice", File::new("", "audio/ogg", bytes))
    }

    /// A piece of music.
    pub fn audio(from: &User, file: File) -> Self {
        Self::of_file(from, "audio", file)
    }

    /// A film.
    pub fn video(from: &User, file: File) -> Self {
        Self::of_file(from, "video", file)
    }

    /// Any file.
    pub fn document(from: &User, file: File) -> Self {
        Self::of_file(from, "document", file)
    }

    /// A place.
    pub fn location(from: &User, latitude: f64, longitude: f64) -> Self {
        Self::new(from, json!({ "location": { "latitude": latitude, "longitude": longitude } }))
    }

    /// Sets the caption of a file.
    #[must_use]
    pub fn with_caption(self, caption: &str) -> Self {
        self.with("caption", caption.into()).with("caption_entities", entities(caption))
    }

    /// Sets any field in the form of the Bot API.
    #[must_use]
    pub fn with(mut self, name: &str, value: Value) -> Self {
        self.fields.insert(name.to_owned(), value);
        self
    }

    /// Replies to a message of the chat.
    #[must_use]
    pub fn replying_to(mut self, message_id: i64) -> Self {
        self.reply_to = Some(message_id);
        self
    }

    /// Quotes a part of the message that it replies to.
    #[must_use]
    pub fn quoting(self, text: &str) -> Self {
        self.with("quote", json!({ "text": text, "position": 0, "is_manual": true }))
    }

    /// Sends it in a topic of a supergroup.
    #[must_use]
    pub fn in_topic(self, topic: i64) -> Self {
        self.with("message_thread_id", topic.into()).with("is_topic_message", true.into())
    }

    /// Forwards it from another user.
    #[must_use]
    pub fn forwarded_from(self, other: &User) -> Self {
        let origin = json!({ "type": "user", "date": 1_789_000_000, "sender_user": other.json() });
        self.with("forward_origin", origin)
    }

    /// Sends it by way of another bot.
    #[must_use]
    pub fn via(self, bot: &User) -> Self {
        self.with("via_bot", bot.json())
    }

    /// Sends it in the name of the group, as an administrator can.
    #[must_use]
    pub fn anonymous(mut self) -> Self {
        self.is_anonymous = true;
        self
    }
}

/// Returns the entities of the mentions and commands of a text, in the form of the Bot API.
pub(super) fn entities(text: &str) -> Value {
    let mut found = Vec::new();
    let mut units = 0;
    for word in text.split_inclusive(char::is_whitespace) {
        let is_of_name = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '@');
        let name = word.get(1..).unwrap_or_default();
        let length = 1 + name.find(|char| !is_of_name(char)).unwrap_or(name.len());
        let kind = match word.chars().next() {
            Some('@') if length > 4 => Some("mention"),
            Some('/') if length > 1 => Some("bot_command"),
            _ => None,
        };
        if let Some(kind) = kind {
            found.push(json!({ "type": kind, "offset": units, "length": length }));
        }
        units += word.encode_utf16().count();
    }
    found.into()
}
