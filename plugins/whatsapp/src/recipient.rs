//! To whom a message goes.

use serde::{Serialize, Serializer};
use std::fmt;
use toolkit::prelude::*;
use toolkit::{Ask, ToolErrorKind};

/// A phone number by E.164, with its plus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Recipient(String);

impl Recipient {
    /// The number that is named, else that of the caller's conversation.
    pub(crate) fn of(ctx: &ToolContext, named: Option<&str>) -> Result<Self, ToolError> {
        let conversation = ctx.caller().conversation_id.as_deref();
        let Some(text) = named.or(conversation) else {
            return Err(ToolError::new(
                ToolErrorKind::InvalidArguments,
                "to whom is not known: this call belongs to no conversation; give `to`",
            ));
        };
        Self::parse(text).ok_or_else(|| {
            ToolError::failed(
                "the conversation that the host names is no phone number with its country's code; give `to`",
            )
        })
    }

    /// At most 15 digits, of which the first is none of 0; people write them apart.
    fn parse(text: &str) -> Option<Self> {
        let digits: String = text.strip_prefix('+').unwrap_or(text).to_owned();
        let is_number = (7..=15).contains(&digits.len())
            && !digits.starts_with('0')
            && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| Self(format!("+{digits}")))
    }

    /// A question before something is sent there: "Send a place to", say.
    pub(crate) fn ask(&self, ctx: &ToolContext, what: &str) -> Ask {
        let is_here = ctx.caller().conversation_id.as_deref().and_then(Self::parse).as_ref() == Some(self);
        let place = if is_here { "this conversation" } else { "another person" };
        Ask::new("message", format!("{what} {place} on WhatsApp, {self}"))
            .with_pattern(format!("whatsapp:{self}"))
    }
}

impl fmt::Display for Recipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for Recipient {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        for (text, expected) in [
            ("+16505551234", Some("+16505551234")),
            ("16505551234", Some("+16505551234")),
            ("1234567", Some("+1234567")),
            ("123456789012345", Some("+123456789012345")),
            ("123456", None),
            ("1234567890123456", None),
            ("06505551234", None),
            ("++16505551234", None),
            ("+1 650 555 1234", None),
            ("", None),
            ("١٢٣٤٥٦٧٨", None),
        ] {
            assert_eq!(Recipient::parse(text), expected.map(|text| Recipient(text.to_owned())), "{text:?}");
        }
    }
}
