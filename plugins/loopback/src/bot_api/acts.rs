//! Acts of users, and of the platform.

use super::FakeBotApi;
use super::file::File;
use super::state::State;
use super::user_message::{UserMessage, entities};
use super::world::{Chat, User};
use serde_json::{Map, Value, json};

/// The account that stands for an anonymous administrator.
const ANONYMOUS: i64 = 1_087_968_824;

impl FakeBotApi {
    /// Lets a user send a message. Returns its id in the chat.
    pub fn deliver(&self, chat: &Chat, message: UserMessage) -> i64 {
        self.shared.change(|state| {
            let kind = if chat.kind == "channel" { "channel_post" } else { "message" };
            let (id, message) = written(state, chat, message);
            state.push_update(kind, &message);
            id
        })
    }

    /// Lets a user send a text. Returns the message's id in the chat.
    pub fn say(&self, user: &User, chat: &Chat, text: &str) -> i64 {
        self.deliver(chat, UserMessage::text(user, text))
    }

    /// Lets a user replace the text of a message.
    ///
    /// # Panics
    ///
    /// There is no such message.
    pub fn edit(&self, chat: &Chat, message_id: i64, text: &str) {
        self.shared.change(|state| {
            let date = state.date();
            let message = state.messages.get_mut(&(chat.id, message_id)).expect("a message of the chat");
            message["text"] = text.into();
            message["entities"] = entities(text);
            message["edit_date"] = date.into();
            let message = message.clone();
            let kind = if chat.kind == "channel" { "edited_channel_post" } else { "edited_message" };
            state.push_update(kind, &message);
        });
    }

    /// Lets a user press a button of a message of the bot. Returns the id of the press. The data need not be those of a button: a client
    /// can send any.
    ///
    /// # Panics
    ///
    /// There is no such message.
    pub fn press(&self, user: &User, chat: &Chat, message_id: i64, data: &str) -> String {
        self.shared.change(|state| {
            let message = state.messages.get(&(chat.id, message_id)).expect("a message of the chat");
            let id = format!("press-{}", state.presses.len() + 1);
            let query = json!({
                "id": id, "from": user.json(), "message": message, "chat_instance": "1", "data": data,
            });
            state.presses.insert(id.clone(), None);
            state.push_update("callback_query", &query);
            id
        })
    }

    /// Adds a chat to which the bot may send, before anybody wrote there.
    pub fn join(&self, chat: &Chat) {
        self.shared.change(|state| {
            state.add_chat(chat);
        });
    }

    /// Adds a topic to a supergroup. Returns its id, which is that of the message that creates it.
    pub fn add_topic(&self, chat: &Chat, name: &str) -> i64 {
        self.shared.change(|state| {
            let id = state.next_message(chat);
            state.add_chat(chat).topics.insert(id);
            let message = json!({
                "message_id": id, "message_thread_id": id, "is_topic_message": true, "date": state.date(),
                "chat": chat.json(), "from": state.bot.json(), "forum_topic_created": { "name": name, "icon_color": 7_322_096 },
            });
            state.messages.insert((chat.id, id), message.clone());
            state.push_update("message", &message);
            id
        })
    }

    /// Makes a group a supergroup with another id. Requests with the earlier id are refused with the new one.
    pub fn migrate(&self, chat: &Chat, to: i64) -> Chat {
        let new = Chat::supergroup(to, &chat.title);
        self.shared.change(|state| {
            state.add_chat(&new);
            state.add_chat(chat).migrated_to = Some(to);
            let id = state.next_message(chat);
            let moved = json!({
                "message_id": id, "date": state.date(), "chat": chat.json(), "migrate_to_chat_id": to,
            });
            state.push_update("message", &moved);
            let id = state.next_message(&new);
            let moved = json!({
                "message_id": id, "date": state.date(), "chat": new.json(), "migrate_from_chat_id": chat.id,
            });
            state.push_update("message", &moved);
        });
        new
    }

    /// Forbids the bot to write to a chat, as a user does who blocks it.
    pub fn forbid(&self, chat: &Chat, description: &str) {
        self.shared.change(|state| state.add_chat(chat).forbidden = Some(description.to_owned()));
    }

    /// Delivers an update of a kind with any content. Returns its id.
    pub fn push_update(&self, kind: &'static str, content: &Value) -> i64 {
        self.shared.change(|state| state.push_update(kind, content))
    }

    /// Delivers an update as a function writes it from its id, which need not be right. Returns the id.
    pub fn push_text(&self, write: impl FnOnce(i64) -> String) -> i64 {
        self.shared.change(|state| state.push(None, write))
    }

    /// Adds a file that the bot can fetch. Returns its id.
    pub fn add_file(&self, bytes: &[u8]) -> String {
        self.shared.change(|state| state.add_file(File::new("", "application/octet-stream", bytes)))
    }
}

/// Returns a message in the form of the Bot API, with its id.
fn written(state: &mut State, chat: &Chat, message: UserMessage) -> (i64, Value) {
    let id = state.next_message(chat);
    let UserMessage { from, fields, file, reply_to, is_anonymous } = message;
    let mut written = Map::new();
    written.insert("message_id".to_owned(), id.into());
    written.insert("date".to_owned(), state.date().into());
    written.insert("chat".to_owned(), chat.json());
    if chat.kind == "channel" {
        written.insert("sender_chat".to_owned(), chat.json());
    } else if is_anonymous {
        let placeholder = User {
            username: Some("GroupAnonymousBot".to_owned()),
            is_bot: true,
            ..User::new(ANONYMOUS, "Group")
        };
        written.insert("from".to_owned(), placeholder.json());
        written.insert("sender_chat".to_owned(), chat.json());
    } else if let Some(from) = from {
        written.insert("from".to_owned(), from.json());
    }
    let topic = fields.get("message_thread_id").and_then(Value::as_i64);
    // In a topic, a message that replies to no other one replies to the one that created it.
    if let Some(replied) = reply_to.or(topic).and_then(|id| state.messages.get(&(chat.id, id))) {
        let mut replied = replied.clone();
        // The message that it replies to is not repeated.
        if let Some(replied) = replied.as_object_mut() {
            replied.shift_remove("reply_to_message");
        }
        written.insert("reply_to_message".to_owned(), replied);
    }
    if let Some((field, file)) = file {
        let of_file = described(state, field, file);
        written.insert(field.to_owned(), of_file);
    }
    written.extend(fields);
    let written = Value::from(written);
    state.messages.insert((chat.id, id), written.clone());
    (id, written)
}

/// Stores a file, and returns the field that describes it.
fn described(state: &mut State, field: &str, file: File) -> Value {
    let (name, media_type, size) = (file.name.clone(), file.media_type.clone(), file.bytes.len());
    if field == "photo" {
        let small = state.add_file(File::new("", "image/jpeg", "a small one"));
        let large = state.add_file(file);
        return json!([
            { "file_id": small, "file_unique_id": format!("u-{small}"), "width": 90, "height": 67, "file_size": 11 },
            { "file_id": large, "file_unique_id": format!("u-{large}"), "width": 1280, "height": 960, "file_size": size },
        ]);
    }
    let id = state.add_file(file);
    let mut described = json!({
        "file_id": id, "file_unique_id": format!("u-{id}"), "mime_type": media_type, "file_size": size,
    });
    if field != "document" {
        described["duration"] = 1.into();
    }
    if !name.is_empty() {
        described["file_name"] = name.into();
    }
    described
}
