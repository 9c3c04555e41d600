//! The question before a message is sent: all that is sent, and where to.

use toolkit::prelude::*;

use super::place::Place;
use super::service::{MessageContent, MessagePart, OutgoingMessage};

/// The kind of the questions, which tools of channels use too.
const KIND: &str = "message";

/// Returns the question for a message, with a description of each file. Its digest covers the texts, the target, and the bytes of files by
/// their digests.
pub(super) fn question(
    place: &Place<'_>,
    message: &OutgoingMessage,
    files: &[String],
    parts: &[MessagePart],
) -> Ask {
    let (channel, target) = (&place.channel.name, place.target);
    let conversation = if target.is_own { "this conversation" } else { "another conversation" };
    let title = format!("{} {conversation} on {channel}, {}", words(&message.content), target.id);
    let to = match &target.name {
        Some(name) => format!("{} ({name}), by the account {}", target.id, message.account_id),
        None => format!("{}, by the account {}", target.id, message.account_id),
    };
    // A lasting answer counts for the same account and action alone.
    let condition = format!("{} by the account {}", action(&message.content), message.account_id);
    let ask = Ask::new(KIND, title).before_acting().with_pattern(place.pattern()).with_condition(condition);
    let mut ask = ask.with_text("to", to);
    if let Some(reply_to) = &message.reply_to {
        ask = ask.with_text("reply to", reply_to);
    }
    if message.silent {
        ask = ask.with_text("sound", "none");
    }
    match &message.content {
        MessageContent::Send { text, caption, .. } => {
            if let Some(text) = text {
                ask = ask.with_text("text", text);
            }
            for file in files {
                ask = ask.with_text("file", file);
            }
            if let Some(caption) = caption {
                ask = ask.with_text("caption", caption);
            }
        }
        MessageContent::Edit { text, .. } => ask = ask.with_text("new text", text),
        MessageContent::Delete { .. } => {}
        MessageContent::React { emoji, .. } => ask = ask.with_text("emoji", emoji),
        MessageContent::Poll { question, options, multiple } => {
            ask = ask.with_text("question", question);
            for option in options {
                ask = ask.with_text("option", option);
            }
            if *multiple {
                ask = ask.with_text("answers", "several");
            }
        }
    }
    if parts.len() > 1 {
        ask = ask.with_text("parts", parts.len().to_string());
    }
    ask
}

/// The words for a call, which precede the conversation.
fn words(content: &MessageContent) -> String {
    match content {
        MessageContent::Send { media, .. } if media.is_empty() => "Send a message to".to_owned(),
        MessageContent::Send { media, .. } if media.len() == 1 => "Send a file to".to_owned(),
        MessageContent::Send { media, .. } => format!("Send {} files to", media.len()),
        MessageContent::Edit { message_id, .. } => format!("Edit the message {message_id} in"),
        MessageContent::Delete { message_id } => format!("Delete the message {message_id} in"),
        MessageContent::React { message_id, emoji } if emoji.is_empty() => {
            format!("Take back the emoji on the message {message_id} in")
        }
        MessageContent::React { message_id, .. } => format!("Put an emoji on the message {message_id} in"),
        MessageContent::Poll { .. } => "Send a poll to".to_owned(),
    }
}

fn action(content: &MessageContent) -> &'static str {
    match content {
        MessageContent::Send { .. } => "send",
        MessageContent::Edit { .. } => "edit",
        MessageContent::Delete { .. } => "delete",
        MessageContent::React { .. } => "react",
        MessageContent::Poll { .. } => "poll",
    }
}
