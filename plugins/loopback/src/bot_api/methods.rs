//! The methods of the Bot API that the server knows, with their fields by the documentation.

use super::schema::Kind::{Boolean, Bytes, Chat, File, Integer, List, Object, OneOf, Text, Units};
use super::schema::{Field, Kind, optional, required};

/// Positive ids.
const ID: Kind = Integer(1, i64::MAX);
const NUMBER: Kind = Integer(i64::MIN, i64::MAX);
const HTML: Kind = OneOf(&["HTML"]);

const LINK_PREVIEW: Kind = Object(&[
    optional("is_disabled", Boolean),
    optional("url", Text),
    optional("prefer_small_media", Boolean),
    optional("prefer_large_media", Boolean),
    optional("show_above_text", Boolean),
]);
const REPLY: Kind = Object(&[
    required("message_id", ID),
    optional("chat_id", Chat),
    optional("allow_sending_without_reply", Boolean),
    optional("quote", Units(1, 1024)),
    optional("quote_parse_mode", HTML),
    optional("quote_position", Integer(0, i64::MAX)),
]);
const BUTTON: Kind = Object(&[required("text", Units(1, 4096)), required("callback_data", Bytes(1, 64))]);
const ROW: Kind = List(&BUTTON, 1, 8);
const KEYBOARD: Kind = Object(&[required("inline_keyboard", List(&ROW, 0, 100))]);
const OPTION: Kind = Object(&[required("text", Units(1, 100)), optional("text_parse_mode", HTML)]);
const REACTION: Kind = Object(&[required("type", OneOf(&["emoji"])), required("emoji", OneOf(REACTIONS))]);
const UPDATES: Kind = OneOf(&[
    "message",
    "edited_message",
    "channel_post",
    "edited_channel_post",
    "message_reaction",
    "callback_query",
    "poll",
    "poll_answer",
    "my_chat_member",
    "chat_member",
    "chat_join_request",
]);
const ACTIONS: Kind = OneOf(&[
    "typing",
    "upload_photo",
    "record_video",
    "upload_video",
    "record_voice",
    "upload_voice",
    "upload_document",
    "choose_sticker",
    "find_location",
    "record_video_note",
    "upload_video_note",
]);
/// The emoji with which a bot can react.
const REACTIONS: &[&str] = &[
    "❤",
    "👍",
    "👎",
    "🔥",
    "🥰",
    "👏",
    "😁",
    "🤔",
    "🤯",
    "😱",
    "🤬",
    "😢",
    "🎉",
    "🤩",
    "🤮",
    "💩",
    "🙏",
    "👌",
    "🕊",
    "🤡",
    "🥱",
    "🥴",
    "😍",
    "🐳",
    "❤‍🔥",
    "🌚",
    "🌭",
    "💯",
    "🤣",
    "⚡",
    "🍌",
    "🏆",
    "💔",
    "🤨",
    "😐",
    "🍓",
    "🍾",
    "💋",
    "🖕",
    "😈",
    "😴",
    "😭",
    "🤓",
    "👻",
    "👨‍💻",
    "👀",
    "🎃",
    "🙈",
    "😇",
    "😨",
    "🤝",
    "✍",
    "🤗",
    "🫡",
    "🎅",
    "🎄",
    "☃",
    "💅",
    "🤪",
    "🗿",
    "🆒",
    "💘",
    "🙉",
    "🦄",
    "😘",
    "💊",
    "🙊",
    "😎",
    "👾",
    "🤷‍♂",
    "🤷",
    "🤷‍♀",
    "😡",
];

/// The fields of every message that is sent.
const NEW: [Field; 5] = [
    required("chat_id", Chat),
    optional("message_thread_id", ID),
    optional("disable_notification", Boolean),
    optional("reply_parameters", REPLY),
    optional("reply_markup", KEYBOARD),
];

/// Returns the fields of a method; `None` if it is unknown.
pub(super) fn fields(method: &str) -> Option<Vec<Field>> {
    let new = |more: &[Field]| NEW.iter().chain(more).copied().collect();
    let file = |name: &'static str| {
        new(&[required(name, File), optional("caption", Text), optional("parse_mode", HTML)])
    };
    Some(match method {
        "getMe" => Vec::new(),
        "getUpdates" => vec![
            optional("offset", NUMBER),
            optional("limit", Integer(1, 100)),
            optional("timeout", Integer(0, 50)),
            optional("allowed_updates", List(&UPDATES, 0, 100)),
        ],
        "sendMessage" => new(&[
            required("text", Text),
            optional("parse_mode", HTML),
            optional("link_preview_options", LINK_PREVIEW),
        ]),
        "sendPhoto" => file("photo"),
        "sendDocument" => file("document"),
        "sendVoice" => file("voice"),
        "sendAudio" => file("audio"),
        "sendVideo" => file("video"),
        "sendPoll" => new(&[
            required("question", Units(1, 300)),
            required("options", List(&OPTION, 1, 12)),
            optional("is_anonymous", Boolean),
            optional("type", OneOf(&["regular", "quiz"])),
            optional("allows_multiple_answers", Boolean),
            optional("correct_option_ids", List(&Integer(0, 11), 1, 12)),
            optional("explanation", Units(0, 200)),
            optional("open_period", Integer(5, 2_628_000)),
        ]),
        "editMessageText" => vec![
            required("chat_id", Chat),
            required("message_id", ID),
            required("text", Text),
            optional("parse_mode", HTML),
            optional("link_preview_options", LINK_PREVIEW),
            optional("reply_markup", KEYBOARD),
        ],
        "deleteMessage" => vec![required("chat_id", Chat), required("message_id", ID)],
        "pinChatMessage" => {
            vec![
                required("chat_id", Chat),
                required("message_id", ID),
                optional("disable_notification", Boolean),
            ]
        }
        "setMessageReaction" => vec![
            required("chat_id", Chat),
            required("message_id", ID),
            optional("reaction", List(&REACTION, 0, 1)),
            optional("is_big", Boolean),
        ],
        "sendChatAction" => {
            vec![required("chat_id", Chat), optional("message_thread_id", ID), required("action", ACTIONS)]
        }
        "answerCallbackQuery" => vec![
            required("callback_query_id", Text),
            optional("text", Units(0, 200)),
            optional("show_alert", Boolean),
            optional("cache_time", Integer(0, i64::MAX)),
        ],
        "getFile" => vec![required("file_id", Text)],
        _ => return None,
    })
}
