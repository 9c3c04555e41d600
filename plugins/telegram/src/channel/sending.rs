//! The requests that send.

use super::MAX_UPLOAD;
use super::errors::{self, SENDING};
use super::multipart::Form;
use crate::pin::{self, PinFields};
use crate::poll::{self, PollFields};
use crate::request::{Bot, Failure, Payload};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::time::Duration;
use toolkit_channel::{Action, Button, Conversation, MediaKind, Outgoing, OutgoingMedia, Receipt, SendError};

/// The most bytes of a photo; a larger picture is sent as a document.
const MAX_PHOTO: usize = 10 << 20;

/// The fields of a request.
type Fields = Map<String, Value>;

/// The message that was sent.
#[derive(Clone, Copy, Deserialize)]
struct SentMessage {
    message_id: i64,
}

/// Sends one part.
pub(super) async fn send(bot: &Bot, outgoing: &Outgoing) -> Result<Receipt, SendError> {
    let mut fields = target(&outgoing.conversation)?;
    match &outgoing.action {
        Action::Text { plain, markup, buttons } => {
            fields.extend(text(plain, markup.as_deref()));
            options(&mut fields, outgoing)?;
            if !buttons.is_empty() {
                fields.insert("reply_markup".to_owned(), keyboard(buttons));
            }
            message(bot, "sendMessage", &fields, markup.is_some()).await
        }
        Action::Media(media) => {
            options(&mut fields, outgoing)?;
            upload(bot, fields, media).await
        }
        Action::Edit { message_id, plain, markup } => {
            edit(bot, chat_only(fields), message_id, text(plain, markup.as_deref()), markup.is_some()).await
        }
        Action::Delete { message_id } => delete(bot, chat_only(fields), message_id).await,
        Action::React { message_id, emoji } => {
            let mut fields = chat_only(fields);
            fields.insert("message_id".to_owned(), id("message", message_id)?.into());
            let reaction =
                if emoji.is_empty() { json!([]) } else { json!([{ "type": "emoji", "emoji": emoji }]) };
            fields.insert("reaction".to_owned(), reaction);
            let _: bool = call(bot, "setMessageReaction", &fields)
                .await
                .map_err(|failure| errors::send(failure, false))?;
            Ok(Receipt { message_id: Some(message_id.clone()) })
        }
        Action::Poll { question, options: choices, multiple } => {
            options(&mut fields, outgoing)?;
            let choices: Vec<Value> = choices.iter().map(|text| json!({ "text": text })).collect();
            fields.insert("question".to_owned(), question.as_str().into());
            fields.insert("options".to_owned(), choices.into());
            fields.insert("allows_multiple_answers".to_owned(), (*multiple).into());
            message(bot, "sendPoll", &fields, false).await
        }
        Action::Platform { name, arguments } => platform(bot, fields, name, arguments).await,
        _ => Err(SendError::refused("Telegram cannot do this")),
    }
}

/// Carries out an action that Telegram alone has.
async fn platform(
    bot: &Bot,
    mut fields: Fields,
    name: &str,
    arguments: &Value,
) -> Result<Receipt, SendError> {
    match name {
        poll::ACTION => {
            fields.extend(checked::<PollFields>(arguments)?.0);
            message(bot, "sendPoll", &fields, false).await
        }
        pin::ACTION => {
            let (of_pin, PinFields { message_id, .. }) = checked(arguments)?;
            let mut fields = chat_only(fields);
            fields.extend(of_pin);
            let _: bool =
                call(bot, "pinChatMessage", &fields).await.map_err(|failure| errors::send(failure, false))?;
            Ok(Receipt { message_id: Some(message_id.to_string()) })
        }
        name => Err(SendError::refused(format!("Telegram has no action `{}`", name.escape_debug()))),
    }
}

/// Returns the arguments of an action as fields of a request, if they have its form.
fn checked<T: DeserializeOwned + Serialize>(arguments: &Value) -> Result<(Fields, T), SendError> {
    let wrong =
        |error: serde_json::Error| SendError::refused(format!("the action has an unknown form: {error}"));
    let parsed = T::deserialize(arguments).map_err(wrong)?;
    match serde_json::to_value(&parsed).map_err(wrong)? {
        Value::Object(fields) => Ok((fields, parsed)),
        _ => Err(SendError::refused("the action has no fields")),
    }
}

/// Returns the fields that name a conversation.
pub(super) fn target(conversation: &Conversation) -> Result<Fields, SendError> {
    let mut fields = Fields::new();
    fields.insert("chat_id".to_owned(), id("chat", &conversation.peer)?.into());
    if let Some(thread) = &conversation.thread {
        fields.insert("message_thread_id".to_owned(), id("topic", thread)?.into());
    }
    Ok(fields)
}

/// The ids of messages are unique in a chat, whatever the topic.
fn chat_only(mut fields: Fields) -> Fields {
    fields.shift_remove("message_thread_id");
    fields
}

/// Adds the fields of every new message.
fn options(fields: &mut Fields, outgoing: &Outgoing) -> Result<(), SendError> {
    if let Some(reply_to) = &outgoing.reply_to {
        let parameters =
            json!({ "message_id": id("message", reply_to)?, "allow_sending_without_reply": true });
        fields.insert("reply_parameters".to_owned(), parameters);
    }
    if outgoing.silent {
        fields.insert("disable_notification".to_owned(), true.into());
    }
    Ok(())
}

fn text(plain: &str, markup: Option<&str>) -> Fields {
    let mut fields = Fields::new();
    fields.insert("text".to_owned(), markup.unwrap_or(plain).into());
    if markup.is_some() {
        fields.insert("parse_mode".to_owned(), "HTML".into());
    }
    fields.insert("link_preview_options".to_owned(), json!({ "is_disabled": true }));
    fields
}

fn keyboard(rows: &[Vec<Button>]) -> Value {
    let button = |button: &Button| json!({ "text": button.text, "callback_data": button.data });
    let rows: Vec<Value> = rows.iter().map(|row| row.iter().map(button).collect()).collect();
    json!({ "inline_keyboard": rows })
}

/// Parses an id of the platform. One that is none was never given by Telegram.
fn id(of: &str, text: &str) -> Result<i64, SendError> {
    text.parse().map_err(|_| {
        SendError::refused(format!("the id of the {of} is not one of Telegram: it is no number"))
    })
}

async fn call<R: DeserializeOwned>(bot: &Bot, method: &str, fields: &Fields) -> Result<R, Failure> {
    let payload = Payload::json(fields).expect("a map of JSON values can be written");
    bot.call(&SENDING, method, payload, bot.timeout()).await
}

async fn message(bot: &Bot, method: &str, fields: &Fields, has_markup: bool) -> Result<Receipt, SendError> {
    call(bot, method, fields).await.map(receipt).map_err(|failure| errors::send(failure, has_markup))
}

fn receipt(message: SentMessage) -> Receipt {
    Receipt { message_id: Some(message.message_id.to_string()) }
}

/// Replaces the text of a message. Its buttons go: they belong to the earlier text.
async fn edit(
    bot: &Bot,
    mut fields: Fields,
    message_id: &str,
    text: Fields,
    has_markup: bool,
) -> Result<Receipt, SendError> {
    fields.insert("message_id".to_owned(), id("message", message_id)?.into());
    fields.extend(text);
    let edited: Result<IgnoredAny, _> = call(bot, "editMessageText", &fields).await;
    match edited {
        Err(failure) if !says(&failure, "message is not modified") => Err(errors::send(failure, has_markup)),
        _ => Ok(Receipt { message_id: Some(message_id.to_owned()) }),
    }
}

async fn delete(bot: &Bot, mut fields: Fields, message_id: &str) -> Result<Receipt, SendError> {
    fields.insert("message_id".to_owned(), id("message", message_id)?.into());
    let deleted: Result<bool, _> = call(bot, "deleteMessage", &fields).await;
    match deleted {
        Err(failure) if !says(&failure, "message to delete not found") => Err(errors::send(failure, false)),
        _ => Ok(Receipt { message_id: Some(message_id.to_owned()) }),
    }
}

/// Returns true if Telegram answered with an error of this text.
fn says(failure: &Failure, part: &str) -> bool {
    matches!(failure, Failure::Error(error) if error.code == 400 && error.description.to_lowercase().contains(part))
}

async fn upload(bot: &Bot, mut fields: Fields, media: &OutgoingMedia) -> Result<Receipt, SendError> {
    if u64::try_from(media.bytes.len()).is_ok_and(|length| length > MAX_UPLOAD) {
        let most = MAX_UPLOAD >> 20;
        return Err(SendError::refused(format!("the file is too large: a bot can send at most {most} MiB")));
    }
    if !media.caption.is_empty() {
        let markup = media.caption_markup.as_deref();
        fields.insert("caption".to_owned(), markup.unwrap_or(&media.caption).into());
        if markup.is_some() {
            fields.insert("parse_mode".to_owned(), "HTML".into());
        }
    }
    let (method, field) = method_of(media);
    let mut sent = upload_as(bot, method, field, &fields, media).await;
    // A picture that Telegram cannot show is still a file.
    let cannot_be_shown = |failure: &Failure| {
        says(failure, "photo_invalid_dimensions") || says(failure, "image_process_failed")
    };
    if method == "sendPhoto" && sent.as_ref().is_err_and(cannot_be_shown) {
        sent = upload_as(bot, "sendDocument", "document", &fields, media).await;
    }
    let has_markup = fields.contains_key("parse_mode");
    sent.map(receipt).map_err(|failure| errors::send(failure, has_markup))
}

async fn upload_as(
    bot: &Bot,
    method: &str,
    field: &str,
    fields: &Fields,
    media: &OutgoingMedia,
) -> Result<SentMessage, Failure> {
    let mut form = Form::new(&media.bytes);
    for (name, value) in fields {
        match value {
            Value::String(text) => form.field(name, text),
            other => form.field(name, &other.to_string()),
        }
    }
    form.file(field, &media.name, &media.media_type, &media.bytes);
    let payload = form.finish();
    let timeout: Duration = bot.transfer_timeout(payload.bytes.len() as u64);
    bot.call(&SENDING, method, payload, timeout).await
}

/// Returns the method for a medium, with the name of its field: that of its kind if Telegram takes its type as this kind, otherwise that of
/// any file.
fn method_of(media: &OutgoingMedia) -> (&'static str, &'static str) {
    let media_type = media.media_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_one_of = |types: &[&str]| types.contains(&media_type.as_str());
    match media.kind {
        MediaKind::Image
            if is_one_of(&["image/jpeg", "image/png", "image/webp"]) && media.bytes.len() <= MAX_PHOTO =>
        {
            ("sendPhoto", "photo")
        }
        MediaKind::Voice if is_one_of(&["audio/ogg", "audio/opus", "audio/mpeg", "audio/mp4"]) => {
            ("sendVoice", "voice")
        }
        MediaKind::Audio if is_one_of(&["audio/mpeg", "audio/mp4", "audio/m4a", "audio/x-m4a"]) => {
            ("sendAudio", "audio")
        }
        MediaKind::Video if is_one_of(&["video/mp4"]) => ("sendVideo", "video"),
        _ => ("sendDocument", "document"),
    }
}
