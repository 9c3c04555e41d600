//! Results that clients send, read without a value for each of their parts.

use std::fmt;

use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::store::CallEnd;

/// The most bytes of text that are kept of a result.
const MAX_BYTES: usize = 100_000;
/// The most characters of the name of a type of content that are shown.
const MAX_KIND_CHARS: usize = 20;

/// A result of MCP, as far as a message says it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ResultOfClient {
    #[serde(default)]
    content: Content,
    #[serde(default)]
    structured_content: Option<Box<RawValue>>,
    #[serde(default)]
    is_error: Flag,
}

impl ResultOfClient {
    /// The result as a message says it: the texts, and a note for other content.
    pub(crate) fn into_end(self) -> CallEnd {
        let mut text = match self.structured_content {
            Some(structured) if self.content.parts.is_empty() => structured.get().to_owned(),
            _ => self.content.parts.join("\n"),
        };
        text = toolkit::text::escape_hidden(&text).into_owned();
        if text.trim().is_empty() {
            "(no content)".clone_into(&mut text);
        }
        if text.len() > MAX_BYTES || self.content.is_cut {
            text.truncate(text.floor_char_boundary(MAX_BYTES.min(text.len())));
            text.push_str("\n\n[cut here: the result is longer]");
        }
        if self.is_error.0 { CallEnd::Failed(text) } else { CallEnd::Answered(text) }
    }
}

/// The texts of blocks of content, up to a little more than is kept. A value that is no list has none.
#[derive(Debug, Default)]
struct Content {
    parts: Vec<String>,
    /// True if there are more.
    is_cut: bool,
}

impl<'de> Deserialize<'de> for Content {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Blocks;

        impl<'de> Visitor<'de> for Blocks {
            type Value = Content;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of blocks")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut blocks: A) -> Result<Content, A::Error> {
                let (mut content, mut bytes) = (Content::default(), 0);
                while bytes <= MAX_BYTES {
                    let Some(block) = blocks.next_element::<Block>()? else { return Ok(content) };
                    let part = block.shown();
                    bytes += part.len() + 1;
                    content.parts.push(part);
                }
                while blocks.next_element::<IgnoredAny>()?.is_some() {
                    content.is_cut = true;
                }
                Ok(content)
            }
        }

        deserializer.deserialize_seq(Blocks)
    }
}

/// A block of content.
#[derive(Deserialize)]
struct Block {
    #[serde(rename = "type", default)]
    kind: Text,
    #[serde(default)]
    text: Text,
}

impl Block {
    fn shown(self) -> String {
        match (self.kind.0.as_deref(), self.text.0) {
            (Some("text"), Some(text)) => text,
            (kind, _) => {
                let kind: String = kind.unwrap_or("unknown").chars().take(MAX_KIND_CHARS).collect();
                format!("[content of the type `{}` is left out]", kind.escape_debug())
            }
        }
    }
}

/// A text, or nothing in place of any other value.
#[derive(Debug, Default)]
struct Text(Option<String>);

/// True for `true`, and false for any other value.
#[derive(Debug, Default)]
struct Flag(bool);

/// Takes any value, and keeps little of it.
struct Lenient;

enum Kept {
    Text(String),
    Flag(bool),
    Nothing,
}

impl<'de> Visitor<'de> for Lenient {
    type Value = Kept;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_str<E>(self, text: &str) -> Result<Kept, E> {
        Ok(Kept::Text(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> Result<Kept, E> {
        Ok(Kept::Text(text))
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Kept, E> {
        Ok(Kept::Flag(flag))
    }

    fn visit_i64<E>(self, _: i64) -> Result<Kept, E> {
        Ok(Kept::Nothing)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Kept, E> {
        Ok(Kept::Nothing)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Kept, E> {
        Ok(Kept::Nothing)
    }

    fn visit_unit<E>(self) -> Result<Kept, E> {
        Ok(Kept::Nothing)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Kept, A::Error> {
        while parts.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Kept::Nothing)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut parts: A) -> Result<Kept, A::Error> {
        while parts.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Kept::Nothing)
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(match deserializer.deserialize_any(Lenient)? {
            Kept::Text(text) => Some(text),
            Kept::Flag(_) | Kept::Nothing => None,
        }))
    }
}

impl<'de> Deserialize<'de> for Flag {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(matches!(deserializer.deserialize_any(Lenient)?, Kept::Flag(true))))
    }
}
