//! Long polling, and the events of updates.

use super::errors::{self, RECEIVING};
use super::mentions::{Me, names};
use super::update::{CallbackQuery, Chat, File, Head, Message, Photo, Replied, Update, User};
use crate::request::Bot;
use serde_json::json;
use serde_json::value::RawValue;
use std::time::Duration;
use toolkit_channel::{
    Batch, Conversation, ConversationKind, Event, EventKind, Incoming, Media, MediaKind, Place, Press,
    ReceiveError, Sender,
};

/// The kinds of updates that are asked for.
const KINDS: &[&str] =
    &["message", "edited_message", "channel_post", "edited_channel_post", "callback_query", "my_chat_member"];
/// The most updates of one answer, which is the most that the Bot API gives.
const MAX_BATCH: u32 = 100;
/// The account of Telegram itself, which tells users of logins.
const TELEGRAM: i64 = 777_000;

/// Waits for updates after an offset.
pub(super) async fn receive(
    bot: &Bot,
    me: &Me,
    offset: Option<&str>,
    poll: Duration,
) -> Result<Batch, ReceiveError> {
    let mut body = json!({ "limit": MAX_BATCH, "timeout": poll.as_secs(), "allowed_updates": KINDS });
    if let Some(offset) = offset {
        let number: i64 = offset
            .parse()
            .map_err(|_| ReceiveError::new("the offset that was stored for this bot is not a number"))?;
        body["offset"] = number.into();
    }
    let called = bot.call(&RECEIVING, "getUpdates", errors::json(&body)?, poll + bot.timeout()).await;
    let updates: Vec<Box<RawValue>> = called.map_err(errors::receive)?;
    let mut events: Vec<Event> = Vec::with_capacity(updates.len());
    for update in &updates {
        match event(update.get(), me) {
            Some(event) => events.push(event),
            // The one behind it advances the offset beyond both.
            None => tracing::warn!("an update of Telegram has no id that can be read, and is left out"),
        }
    }
    if events.is_empty() && !updates.is_empty() {
        return Err(ReceiveError::new("Telegram sent updates without ids, so that they cannot be confirmed"));
    }
    Ok(Batch { events })
}

/// Returns the event of an update: `Other` for one that cannot be read, and `None` if its id cannot be read either.
fn event(update: &str, me: &Me) -> Option<Event> {
    let Head { update_id } = serde_json::from_str(update).ok()?;
    let offset = update_id.checked_add(1)?.to_string();
    let kind = match serde_json::from_str::<Update>(update) {
        Ok(update) => kind_of(update, update_id, me),
        Err(error) => {
            // Its text may be a part of the message.
            let (category, column) = (error.classify(), error.column());
            tracing::warn!(
                update_id,
                ?category,
                column,
                "an update of Telegram cannot be read, and is left out"
            );
            EventKind::Other
        }
    };
    Some(Event { offset, kind })
}

fn kind_of(update: Update, update_id: i64, me: &Me) -> EventKind {
    let Update { message, edited_message, channel_post, edited_channel_post, callback_query } = update;
    let kind = if let Some(message) = message.or(channel_post) {
        received(message, None, me)
    } else if let Some(message) = edited_message.or(edited_channel_post) {
        received(message, Some(update_id), me)
    } else {
        callback_query.and_then(pressed)
    };
    kind.unwrap_or(EventKind::Other)
}

/// Returns the event of a message, or of an edit of one in an update with an id. `None` for a message without content, such as the
/// note that somebody joined.
fn received(message: Message, edit: Option<i64>, me: &Me) -> Option<EventKind> {
    if let Some(to) = message.migrate_to_chat_id {
        return Some(EventKind::Moved { from: message.chat.id.to_string(), to: to.to_string() });
    }
    let conversation =
        conversation(&message.chat, message.message_thread_id.filter(|_| message.is_topic_message))?;
    let (chat, id) = (message.chat.id, message.message_id);
    let external_id = match edit {
        None => format!("{chat}/{id}"),
        // A message can be edited twice in one second.
        Some(update) => format!("{chat}/{id}/{}/{update}", message.edit_date.unwrap_or_default()),
    };
    let place = match &message.location {
        Some(location) => Some(place(location.latitude, location.longitude)?),
        None => None,
    };
    let (media, text) = (media(&message), text(&message));
    // A place that is shared live is edited every few seconds.
    if text.is_empty() && media.is_empty() && (place.is_none() || edit.is_some()) {
        return None;
    }
    let entities = if message.text.is_some() { &message.entities } else { &message.caption_entities };
    let mentions_me = names(me, &text, entities);
    let reply = message.reply_to_message.as_ref().filter(|replied| !is_topic(replied, &message));
    let is_mine = |replied: &Replied| replied.from.as_ref().is_some_and(|user| user.id == me.id);
    Some(EventKind::Message(Incoming {
        external_id,
        message_id: id.to_string(),
        conversation,
        reply_to: reply.map(|replied| replied.message_id.to_string()),
        replies_to_me: reply.is_some_and(is_mine),
        quote: message.quote.map(|quote| quote.text),
        mentions_me,
        is_forwarded: message.forward_origin.is_some()
            || message.forward_date.is_some()
            || message.is_automatic_forward
            || message.via_bot.is_some(),
        is_edited: edit.is_some(),
        title: message.chat.title,
        // Who writes in the name of a group or channel is not stated: `from` is a placeholder then.
        sender: message.from.filter(|_| message.sender_chat.is_none()).map(sender),
        text,
        media,
        place,
    }))
}

/// The first message of a topic is named by all that reply to no other one.
fn is_topic(replied: &Replied, message: &Message) -> bool {
    replied.forum_topic_created.is_some()
        || message.is_topic_message && message.message_thread_id == Some(replied.message_id)
}

fn text(message: &Message) -> String {
    let sticker = message.sticker.as_ref().and_then(|sticker| sticker.emoji.as_ref());
    if let Some(text) = message.text.as_ref().or(message.caption.as_ref()).or(sticker) {
        return text.clone();
    }
    message
        .venue
        .as_ref()
        .map(|venue| format!("{}\n{}", venue.title, venue.address).trim().to_owned())
        .unwrap_or_default()
}

fn media(message: &Message) -> Vec<Media> {
    let area = |photo: &&Photo| photo.width.saturating_mul(photo.height);
    if let Some(photo) = message.photo.iter().max_by_key(area) {
        return vec![Media {
            kind: MediaKind::Image,
            reference: photo.file_id.clone(),
            name: None,
            media_type: Some("image/jpeg".to_owned()),
            size: photo.file_size,
        }];
    }
    // A sticker that moves is shown by its emoji alone.
    if let Some(sticker) =
        message.sticker.as_ref().filter(|sticker| !sticker.is_animated && !sticker.is_video)
    {
        return vec![Media {
            kind: MediaKind::Image,
            reference: sticker.file_id.clone(),
            name: None,
            media_type: Some("image/webp".to_owned()),
            size: sticker.file_size,
        }];
    }
    let of = |kind: MediaKind, file: &File, otherwise: Option<&str>| Media {
        kind,
        reference: file.file_id.clone(),
        name: file.file_name.clone(),
        media_type: file.mime_type.clone().or_else(|| otherwise.map(str::to_owned)),
        size: file.file_size,
    };
    // A message has one of them. An animation is named once more as a document.
    let files = [
        (MediaKind::Voice, &message.voice, Some("audio/ogg")),
        (MediaKind::Audio, &message.audio, None),
        (MediaKind::Video, &message.video, None),
        (MediaKind::Video, &message.video_note, Some("video/mp4")),
        (MediaKind::Video, &message.animation, None),
        (MediaKind::Document, &message.document, None),
    ];
    let first = files.iter().find_map(|(kind, file, otherwise)| Some(of(*kind, file.as_ref()?, *otherwise)));
    first.into_iter().collect()
}

fn place(latitude: f64, longitude: f64) -> Option<Place> {
    let is_on_earth = (-90.0..=90.0).contains(&latitude) && (-180.0..=180.0).contains(&longitude);
    is_on_earth.then_some(Place { latitude, longitude })
}

fn pressed(query: CallbackQuery) -> Option<EventKind> {
    let message = query.message?;
    let conversation =
        conversation(&message.chat, message.message_thread_id.filter(|_| message.is_topic_message))?;
    Some(EventKind::Press(Press {
        id: query.id,
        sender: sender(query.from),
        conversation,
        message_id: message.message_id.to_string(),
        data: query.data?,
    }))
}

fn conversation(chat: &Chat, thread: Option<i64>) -> Option<Conversation> {
    let kind = match chat.kind.as_str() {
        "private" => ConversationKind::Direct,
        "group" | "supergroup" => ConversationKind::Group,
        "channel" => ConversationKind::Channel,
        _ => return None,
    };
    Some(Conversation::new(kind, chat.id.to_string()).with_thread(thread.map(|thread| thread.to_string())))
}

fn sender(user: User) -> Sender {
    let full = format!("{} {}", user.first_name, user.last_name.unwrap_or_default());
    let name = match (full.trim(), user.username) {
        ("", Some(username)) => username,
        (full, _) => full.to_owned(),
    };
    Sender { id: user.id.to_string(), name, is_bot: user.is_bot || user.id == TELEGRAM }
}
