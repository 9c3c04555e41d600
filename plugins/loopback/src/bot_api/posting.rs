//! Messages that the bot sends and changes.

use super::answers::Refusal;
use super::body::Body;
use super::file::File;
use super::html::{self, Parsed};
use super::sent::Sent;
use super::state::State;
use serde_json::{Map, Value, json};

/// The longest text, in UTF-16 units.
const MAX_TEXT: usize = 4096;
/// The longest caption, in UTF-16 units.
const MAX_CAPTION: usize = 1024;
/// The most bytes of a photo.
const MAX_PHOTO: usize = 10 << 20;
/// The most bytes of another file.
const MAX_FILE: usize = 50 << 20;

/// Returns the chat of a request, if the bot may write there.
pub(super) fn chat(state: &State, fields: &Map<String, Value>) -> Result<i64, Refusal> {
    let id = fields.get("chat_id").and_then(Value::as_i64);
    let known = id.and_then(|id| state.chats.get(&id));
    let Some(known) = known else { return Err(Refusal::new(400, "Bad Request: chat not found")) };
    if let Some(to) = known.migrated_to {
        let refusal = Refusal::new(400, "Bad Request: group chat was upgraded to a supergroup chat");
        return Err(refusal.with_parameters(json!({ "migrate_to_chat_id": to })));
    }
    match &known.forbidden {
        Some(description) => Err(Refusal::new(403, description.as_str())),
        None => Ok(known.chat.id),
    }
}

/// Sends a message. Returns it in the form of the Bot API.
pub(super) fn send(state: &mut State, method: &str, body: &mut Body) -> Result<Value, Refusal> {
    let fields = &body.fields;
    let chat = chat(state, fields)?;
    count(state, chat)?;
    let thread = fields.get("message_thread_id").and_then(Value::as_i64);
    if thread.is_some_and(|thread| !state.chats[&chat].topics.contains(&thread)) {
        return Err(Refusal::new(400, "Bad Request: message thread not found"));
    }
    let reply_to = replied(state, chat, fields)?;
    let (text, key) = match method {
        "sendMessage" => (self::text(fields, "text", 1, MAX_TEXT)?, "text"),
        "sendPoll" => (Parsed { text: string(fields, "question"), ..Parsed::default() }, "question"),
        _ => (self::text(fields, "caption", 0, MAX_CAPTION)?, "caption"),
    };
    let file = body.files.pop().map(|(_, file)| file);
    if let Some(file) = &file {
        check_file(method, file)?;
    }
    let of_chat = state.chats[&chat].chat.clone();
    let message_id = state.next_message(&of_chat);
    let mut message = json!({
        "message_id": message_id, "date": state.date(), "chat": of_chat.json(), "from": state.bot.json(),
    });
    if let Some(thread) = thread {
        message["message_thread_id"] = thread.into();
        message["is_topic_message"] = true.into();
    }
    if method == "sendPoll" {
        message["poll"] = json!({ "id": format!("poll-{message_id}"), "question": text.text, "options": fields["options"] });
    } else if !text.text.is_empty() {
        message[key] = text.text.as_str().into();
    }
    if let Some(file) = &file {
        let id = state.add_file(file.clone());
        message["document"] = json!({ "file_id": id, "file_name": file.name, "mime_type": file.media_type });
    }
    let options = fields.get("options").and_then(Value::as_array).into_iter().flatten();
    state.sent.push(Sent {
        method: method.to_owned(),
        chat,
        message_id,
        thread,
        has_markup: fields.contains_key("parse_mode"),
        text: text.text,
        entities: text.entities,
        reply_to,
        is_silent: fields.get("disable_notification") == Some(&Value::Bool(true)),
        buttons: buttons(fields),
        options: options.map(|option| option["text"].as_str().unwrap_or_default().to_owned()).collect(),
        file,
        edits: 0,
        is_deleted: false,
        fields: fields.clone(),
    });
    state.messages.insert((chat, message_id), message.clone());
    Ok(message)
}

/// Counts a message within the limit of its chat.
fn count(state: &mut State, chat: i64) -> Result<(), Refusal> {
    let (now, rate) = (state.now(), state.rate);
    let (Some(rate), Some(chat)) = (rate, state.chats.get_mut(&chat)) else { return Ok(()) };
    while chat.times.front().is_some_and(|time| *time + rate.per <= now) {
        chat.times.pop_front();
    }
    if let Some(first) = chat.times.front().filter(|_| chat.times.len() >= rate.messages) {
        let wait = (*first + rate.per).saturating_sub(now);
        return Err(Refusal::too_many(wait.as_secs() + 1));
    }
    chat.times.push_back(now);
    Ok(())
}

/// Returns the message to which another one replies; `None` if it is gone, and the bot wants to send without it then.
fn replied(state: &State, chat: i64, fields: &Map<String, Value>) -> Result<Option<i64>, Refusal> {
    let Some(parameters) = fields.get("reply_parameters") else { return Ok(None) };
    let id = parameters["message_id"].as_i64().unwrap_or_default();
    if state.messages.contains_key(&(chat, id)) {
        return Ok(Some(id));
    }
    match parameters["allow_sending_without_reply"].as_bool() {
        Some(true) => Ok(None),
        _ => Err(Refusal::new(400, "Bad Request: message to be replied not found")),
    }
}

fn text(fields: &Map<String, Value>, name: &str, least: usize, most: usize) -> Result<Parsed, Refusal> {
    let written = string(fields, name);
    let parsed = if fields.contains_key("parse_mode") {
        html::parse(&written).map_err(|error| Refusal::violation(format!("can't parse entities: {error}")))?
    } else {
        Parsed { text: written, ..Parsed::default() }
    };
    let units = parsed.text.encode_utf16().count();
    if units > most {
        return Err(Refusal::violation(format!("message {name} is too long")));
    }
    if least > 0 && parsed.text.trim().is_empty() {
        return Err(Refusal::violation("message text is empty"));
    }
    Ok(parsed)
}

fn string(fields: &Map<String, Value>, name: &str) -> String {
    fields.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn buttons(fields: &Map<String, Value>) -> Vec<Vec<(String, String)>> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let button = |button: &Value| (text(&button["text"]), text(&button["callback_data"]));
    let Some(markup) = fields.get("reply_markup") else { return Vec::new() };
    list(&markup["inline_keyboard"]).iter().map(|row| list(row).iter().map(button).collect()).collect()
}

/// Checks the size and type of a file against its method.
fn check_file(method: &str, file: &File) -> Result<(), Refusal> {
    let most = if method == "sendPhoto" { MAX_PHOTO } else { MAX_FILE };
    if file.bytes.len() > most {
        return Err(Refusal::violation("file is too big"));
    }
    if file.bytes.is_empty() {
        return Err(Refusal::violation("file must be non-empty"));
    }
    let media_type = file.media_type.split(';').next().unwrap_or_default();
    let (kind, subtype) = media_type.split_once('/').unwrap_or_default();
    let is_right = match method {
        "sendPhoto" => kind == "image",
        "sendVoice" => {
            matches!(media_type, "audio/ogg" | "audio/opus" | "audio/mpeg" | "audio/mp4")
        }
        "sendAudio" => kind == "audio" && matches!(subtype, "mpeg" | "mp4" | "m4a" | "x-m4a"),
        "sendVideo" => media_type == "video/mp4",
        _ => true,
    };
    if is_right {
        Ok(())
    } else {
        Err(Refusal::violation(format!("{method} of a file of the type {}", file.media_type)))
    }
}

/// Replaces the text of a message of the bot.
pub(super) fn edit(state: &mut State, body: &Body) -> Result<Value, Refusal> {
    let fields = &body.fields;
    let (chat, message_id) = (chat(state, fields)?, number(fields, "message_id"));
    let parsed = text(fields, "text", 1, MAX_TEXT)?;
    let buttons = buttons(fields);
    let has_markup = fields.contains_key("parse_mode");
    if !state.messages.contains_key(&(chat, message_id)) {
        return Err(Refusal::new(400, "Bad Request: message to edit not found"));
    }
    let Some(sent) = state.sent_mut(chat, message_id).filter(|sent| sent.method == "sendMessage") else {
        return Err(Refusal::new(400, "Bad Request: message can't be edited"));
    };
    if sent.text == parsed.text && sent.entities == parsed.entities && sent.buttons == buttons {
        return Err(Refusal::new(
            400,
            "Bad Request: message is not modified: specified new message content and reply markup are exactly the same as a \
             current content and reply markup of the message",
        ));
    }
    sent.edits += 1;
    (sent.text, sent.entities, sent.buttons, sent.has_markup) =
        (parsed.text, parsed.entities, buttons, has_markup);
    let text = sent.text.clone();
    let date = state.date();
    let message = state.messages.entry((chat, message_id)).or_default();
    message["text"] = text.into();
    message["edit_date"] = date.into();
    Ok(message.clone())
}

/// Deletes a message.
pub(super) fn delete(state: &mut State, body: &Body) -> Result<Value, Refusal> {
    let (chat, message_id) = (chat(state, &body.fields)?, number(&body.fields, "message_id"));
    if state.messages.remove(&(chat, message_id)).is_none() {
        return Err(Refusal::new(400, "Bad Request: message to delete not found"));
    }
    if let Some(sent) = state.sent_mut(chat, message_id) {
        sent.is_deleted = true;
    }
    Ok(true.into())
}

/// Sets the bot's reaction to a message.
pub(super) fn react(state: &mut State, body: &Body) -> Result<Value, Refusal> {
    let (chat, message_id) = (chat(state, &body.fields)?, number(&body.fields, "message_id"));
    if !state.messages.contains_key(&(chat, message_id)) {
        return Err(Refusal::new(400, "Bad Request: message to react not found"));
    }
    let emoji = body.fields.get("reaction").and_then(|reaction| reaction[0]["emoji"].as_str());
    match emoji {
        Some(emoji) => state.reactions.insert((chat, message_id), emoji.to_owned()),
        None => state.reactions.remove(&(chat, message_id)),
    };
    Ok(true.into())
}

/// Returns a number among the fields, which were checked.
pub(super) fn number(fields: &Map<String, Value>, name: &str) -> i64 {
    fields.get(name).and_then(Value::as_i64).unwrap_or_default()
}
