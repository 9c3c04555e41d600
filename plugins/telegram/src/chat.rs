//! The chat that a call is about.

use serde::{Serialize, Serializer};
use std::fmt;
use toolkit::prelude::*;
use toolkit::{Ask, ToolErrorKind};

/// A chat in the form for the Bot API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Chat {
    /// A user, group or channel by its number.
    Id(i64),
    /// A public group or channel: `@name`, in lower case. Telegram ignores case, and a rule about a name must apply to each way to
    /// write it.
    Name(String),
}

impl Chat {
    /// Returns the named chat, or else that of the caller's conversation.
    pub(crate) fn of(ctx: &ToolContext, named: Option<&str>) -> Result<Self, ToolError> {
        let conversation = ctx.caller().conversation_id.as_deref();
        let Some(text) = named.or(conversation) else {
            return Err(ToolError::new(
                ToolErrorKind::InvalidArguments,
                "the chat is unknown: this call belongs to no conversation; give `chat_id`",
            ));
        };
        Self::parse(text).ok_or_else(|| {
            ToolError::failed(
                "the conversation that the host names is not a Telegram chat: neither a number nor `@name`; give `chat_id`",
            )
        })
    }

    /// Parses a number or `@name`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if let Some(name) = text.strip_prefix('@') {
            let is_name = (4..=32).contains(&name.len())
                && name.starts_with(|char: char| char.is_ascii_alphabetic())
                && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
            return is_name.then(|| Self::Name(text.to_ascii_lowercase()));
        }
        let is_number = text.strip_prefix('-').unwrap_or(text).bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|id| is_number && *id != 0).map(Self::Id)
    }

    /// Returns an approval request for an action in the chat, such as "Send a poll".
    pub(crate) fn ask(&self, ctx: &ToolContext, what: &str) -> Ask {
        let is_here = ctx.caller().conversation_id.as_deref().and_then(Self::parse).as_ref() == Some(self);
        let place = if is_here { "this conversation" } else { "another chat" };
        Ask::new("message", format!("{what} {place} on Telegram, {self}"))
            .with_pattern(format!("telegram:{self}"))
    }
}

impl fmt::Display for Chat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Id(id) => write!(f, "{id}"),
            Self::Name(name) => f.write_str(name),
        }
    }
}

impl Serialize for Chat {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Id(id) => serializer.serialize_i64(*id),
            Self::Name(name) => serializer.serialize_str(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chats() {
        for (text, expected) in [
            ("5", Some(Chat::Id(5))),
            ("-1001234567890", Some(Chat::Id(-1_001_234_567_890))),
            ("@durov", Some(Chat::Name("@durov".to_owned()))),
            ("@DuRoV_1", Some(Chat::Name("@durov_1".to_owned()))),
            ("-0100", Some(Chat::Id(-100))),
            ("@durov\u{200b}", None),
            ("@dur\u{43e}v", None),
            ("\u{ff20}durov", None),
            ("\u{661}\u{662}", None),
            ("", None),
            ("0", None),
            ("+5", None),
            ("5 ", None),
            ("--5", None),
            ("99999999999999999999", None),
            ("@", None),
            ("@1abc", None),
            ("@ab", None),
            ("@a/../b", None),
            ("durov", None),
        ] {
            assert_eq!(Chat::parse(text), expected, "{text:?}");
        }
    }
}
