//! The recipient of a message.

use serde::{Serialize, Serializer};
use std::fmt;
use toolkit::prelude::*;
use toolkit::{Ask, ToolErrorKind};

/// Number of digits in the shorter form of a number that has two forms.
const SHORTER: usize = 12;

/// A phone number by E.164, with its plus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Recipient(String);

impl Recipient {
    /// Returns the given number, or else that of the caller's conversation.
    pub(crate) fn of(ctx: &ToolContext, named: Option<&str>) -> Result<Self, ToolError> {
        let conversation = ctx.caller().conversation_id.as_deref();
        let Some(text) = named.or(conversation) else {
            return Err(ToolError::new(
                ToolErrorKind::InvalidArguments,
                "the recipient is unknown: this call belongs to no conversation; give `to`",
            ));
        };
        Self::parse(text).ok_or_else(|| {
            ToolError::failed(
                "the conversation that the host names is not a phone number with a country code; give `to`",
            )
        })
    }

    /// Parses at most 15 digits, the first of which is not 0. A number has only one valid form: a text with spaces, one or two
    /// leading zeros, or invisible characters is invalid.
    fn parse(text: &str) -> Option<Self> {
        let digits: String = text.strip_prefix('+').unwrap_or(text).to_owned();
        let is_number = (7..=15).contains(&digits.len())
            && !digits.starts_with('0')
            && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| Self(format!("+{digits}")))
    }

    /// Returns an approval request for a message to the recipient, such as "Send a place to".
    pub(crate) fn ask(&self, ctx: &ToolContext, what: &str) -> Ask {
        let is_here = ctx.caller().conversation_id.as_deref().and_then(Self::parse).as_ref() == Some(self);
        let place = if is_here { "this conversation" } else { "another person" };
        let ask = Ask::new("message", format!("{what} {place} on WhatsApp, {self}"))
            .with_pattern(format!("whatsapp:{self}"));
        match self.other_spelling() {
            Some(other) => ask.with_pattern(format!("whatsapp:{other}")),
            None => ask,
        }
    }

    /// Returns the other number by which WhatsApp knows the same person. In three countries a digit was added or removed over the
    /// years, and WhatsApp accepts mobile numbers with and without it: a 1 after Mexico's code, a 9 after Argentina's, a 9 after the
    /// area code in Brazil.
    fn other_spelling(&self) -> Option<Self> {
        let digits = self.0.strip_prefix('+')?;
        let at = if digits.starts_with("55") { 4 } else { 2 };
        let digit = match digits.get(..2)? {
            "52" => "1",
            "54" | "55" => "9",
            _ => return None,
        };
        let (before, after) = (digits.get(..at)?, digits.get(at..)?);
        if digits.len() == SHORTER {
            return Some(Self(format!("+{before}{digit}{after}")));
        }
        let without = after.strip_prefix(digit).filter(|_| digits.len() == SHORTER + 1)?;
        Some(Self(format!("+{before}{without}")))
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
            ("+49 123456789", None),
            ("0049123456789", None),
            ("+0049123456789", None),
            ("49\u{200b}123456789", None),
            ("\u{202a}+49123456789\u{202c}", None),
            ("\u{feff}+49123456789", None),
            ("\u{ff0b}49123456789", None),
            ("+\u{ff14}\u{ff19}123456789", None),
            ("+49123456789\n", None),
            ("49-123456789", None),
            ("", None),
            ("١٢٣٤٥٦٧٨", None),
        ] {
            assert_eq!(Recipient::parse(text), expected.map(|text| Recipient(text.to_owned())), "{text:?}");
        }
    }
    #[test]
    fn numbers_of_two_spellings() {
        for (text, expected) in [
            ("525512345678", Some("+5215512345678")),
            ("5215512345678", Some("+525512345678")),
            ("541112345678", Some("+5491112345678")),
            ("5491112345678", Some("+541112345678")),
            ("551187654321", Some("+5511987654321")),
            ("5511987654321", Some("+551187654321")),
            ("5525512345678", None),
            ("521551234567", Some("+5211551234567")),
            ("16505551234", None),
            ("49123456789", None),
            ("5255123456", None),
        ] {
            let number = Recipient::parse(text).unwrap();
            let other = number.other_spelling();
            assert_eq!(other.as_ref().map(ToString::to_string).as_deref(), expected, "{text}");
            // And back.
            assert!(other.is_none_or(|other| other.other_spelling() == Some(number)), "{text}");
        }
    }
}
