//! Messages of the bot, and its calls.

use super::file::File;
use serde_json::{Map, Value};

/// A message that the bot sent, as it is now.
#[derive(Debug, Clone, PartialEq)]
pub struct Sent {
    /// The method, such as `sendMessage`.
    pub method: String,
    /// The chat.
    pub chat: i64,
    /// The id in the chat.
    pub message_id: i64,
    /// The topic.
    pub thread: Option<i64>,
    /// The text or caption without markup, or the question of a poll.
    pub text: String,
    /// The entities of the text, in the form of the Bot API.
    pub entities: Vec<Value>,
    /// True if it was sent with markup.
    pub has_markup: bool,
    /// The message that it replies to.
    pub reply_to: Option<i64>,
    /// True if it was sent without a sound.
    pub is_silent: bool,
    /// The rows of its buttons: texts with their data.
    pub buttons: Vec<Vec<(String, String)>>,
    /// The options of a poll.
    pub options: Vec<String>,
    /// Its file.
    pub file: Option<File>,
    /// The number of times that its text was replaced.
    pub edits: usize,
    /// True if it was deleted.
    pub is_deleted: bool,
    /// The fields of the request.
    pub fields: Map<String, Value>,
}

/// A call that was checked, whatever came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The method.
    pub method: String,
    /// The fields.
    pub fields: Value,
}
