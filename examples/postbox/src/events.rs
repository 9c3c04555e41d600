//! Events of the platform, and those of a channel.

use serde::Deserialize;
use serde_json::Value;
use toolkit_channel::{Conversation, Event, EventKind, Incoming, Media, MediaKind, Sender};

/// The answer to a request for events.
#[derive(Deserialize)]
pub(crate) struct Events {
    pub(crate) events: Vec<PostboxEvent>,
}

/// An event. Its content is read apart from its number: content of another form must not stop the events behind it.
#[derive(Deserialize)]
pub(crate) struct PostboxEvent {
    /// Its number. Events have ascending ones.
    number: u64,
    letter: Option<Value>,
}

/// A message.
#[derive(Deserialize)]
struct Letter {
    id: String,
    room: String,
    from: Writer,
    text: String,
    file: Option<File>,
    /// True if it replaces the text of an earlier one.
    #[serde(default)]
    is_correction: bool,
}

/// The sender of a message.
#[derive(Deserialize)]
struct Writer {
    id: String,
    name: String,
}

/// The file of a message.
#[derive(Deserialize)]
struct File {
    id: String,
    name: String,
    size: u64,
}

/// Returns the event of a channel, with its own number as the offset: the next request asks for what comes after it.
pub(crate) fn event(event: PostboxEvent) -> Event {
    let PostboxEvent { number, letter } = event;
    let letter = letter.and_then(|letter| serde_json::from_value(letter).ok());
    // An event that is not passed on, or that cannot be read, still advances the offset.
    let kind = letter.map_or(EventKind::Other, |letter| EventKind::Message(message(number, letter)));
    Event { offset: number.to_string(), kind }
}

fn message(number: u64, letter: Letter) -> Incoming {
    let Letter { id, room, from, text, file, is_correction } = letter;
    // A message can be corrected twice: the event makes the id of each correction unique.
    let external_id = if is_correction { format!("{id}/{number}") } else { id.clone() };
    let sender = Sender { id: from.id, name: from.name, is_bot: false };
    let mut message = Incoming::text(external_id, Conversation::direct(room), sender, text);
    message.message_id = id;
    message.is_edited = is_correction;
    message.media.extend(file.map(|file| Media {
        kind: MediaKind::Document,
        reference: file.id,
        name: Some(file.name),
        media_type: None,
        size: Some(file.size),
    }));
    message
}
