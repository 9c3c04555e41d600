//! Content blocks: the parts of a tool's answer to a model. Their JSON is that of the Model Context
//! Protocol.

use crate::redact::Redactor;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;

/// One block of a tool's answer to the model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Content {
    /// Plain text.
    Text {
        /// The text.
        text: String,
    },
    /// A picture.
    #[serde(rename_all = "camelCase")]
    Image {
        /// The encoded file, `image/png` or whatever `mime_type` says.
        data: Bytes,
        /// Its media type.
        mime_type: String,
    },
    /// A sound.
    #[serde(rename_all = "camelCase")]
    Audio {
        /// The encoded file.
        data: Bytes,
        /// Its media type.
        mime_type: String,
    },
    /// A link to a resource that can be read.
    #[serde(rename_all = "camelCase")]
    ResourceLink {
        /// The URI of the resource.
        uri: String,
        /// The name.
        name: String,
        /// A description of the resource.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        description: Option<String>,
        /// Its media type.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mime_type: Option<String>,
    },
    /// A document that is part of the answer.
    Resource {
        /// The document.
        resource: Resource,
    },
}

impl Content {
    /// Creates a text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }

    /// Creates an image block from an encoded picture.
    pub fn image(data: impl Into<Vec<u8>>, mime_type: impl Into<String>) -> Self {
        Self::Image { data: Bytes(data.into()), mime_type: mime_type.into() }
    }

    /// Creates an audio block from an encoded sound.
    pub fn audio(data: impl Into<Vec<u8>>, mime_type: impl Into<String>) -> Self {
        Self::Audio { data: Bytes(data.into()), mime_type: mime_type.into() }
    }

    /// Returns the text of a text block.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text { text } => Some(text),
            _ => None,
        }
    }

    /// Returns the text by which a model reads a text, a link or a text document; `None` for data.
    pub fn to_model_text(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Text { text } => Some(Cow::Borrowed(text)),
            Self::ResourceLink { uri, name, description, mime_type } => {
                let kind = mime_type.as_ref().map_or_else(String::new, |kind| format!(" ({kind})"));
                let about = description.as_ref().map_or_else(String::new, |about| format!(": {about}"));
                Some(Cow::Owned(format!("{name}{kind} is at {uri}{about}")))
            }
            Self::Resource { resource: Resource { uri, body: ResourceBody::Text(text), .. } } => {
                Some(Cow::Owned(format!("{uri}:\n{text}")))
            }
            Self::Image { .. } | Self::Audio { .. } | Self::Resource { .. } => None,
        }
    }

    /// Redacts secrets in text.
    #[doc(hidden)]
    pub fn redact(&mut self, redactor: &Redactor) {
        if let Self::Text { text }
        | Self::Resource { resource: Resource { body: ResourceBody::Text(text), .. } } = self
        {
            redactor.redact_string(text, usize::MAX);
        }
    }

    /// Calls `each` with every text in it.
    #[doc(hidden)]
    pub fn each_text(&mut self, each: &mut dyn FnMut(&mut String)) {
        match self {
            Self::Text { text } => each(text),
            Self::ResourceLink { uri, name, description, mime_type } => {
                let texts = [Some(uri), Some(name), description.as_mut(), mime_type.as_mut()];
                texts.into_iter().flatten().for_each(each);
            }
            Self::Resource { resource } => {
                each(&mut resource.uri);
                if let ResourceBody::Text(text) = &mut resource.body {
                    each(text);
                }
            }
            Self::Image { .. } | Self::Audio { .. } => {}
        }
    }

    /// Returns the number of bytes of text or data.
    #[doc(hidden)]
    pub fn bytes(&self) -> usize {
        match self {
            Self::Text { text }
            | Self::Resource { resource: Resource { body: ResourceBody::Text(text), .. } } => text.len(),
            _ => self.as_bytes().map_or(0, <[u8]>::len),
        }
    }

    /// Returns the bytes of an image, a sound or a binary document.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Image { data, .. }
            | Self::Audio { data, .. }
            | Self::Resource { resource: Resource { body: ResourceBody::Blob(data), .. } } => Some(&data.0),
            _ => None,
        }
    }

    /// Returns true for a picture or a sound whose data is the Base64 text of a file, in place of its bytes.
    #[doc(hidden)]
    pub fn is_base64(&self) -> bool {
        // How the text of a PNG, JPEG, GIF, WebP or WAV file begins, and a URL of data.
        const BEGINNINGS: [&[u8]; 5] = [b"iVBORw0KGgo", b"/9j/", b"R0lGOD", b"UklGR", b"data:"];
        let (Self::Image { data, .. } | Self::Audio { data, .. }) = self else { return false };
        let begins = BEGINNINGS.iter().any(|beginning| data.0.starts_with(beginning));
        begins && data.0.iter().all(u8::is_ascii)
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::Text { text }
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

/// A document within an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Resource {
    /// The URI that identifies the document.
    pub uri: String,
    /// Its media type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// The content.
    #[serde(flatten)]
    pub body: ResourceBody,
}

impl Resource {
    /// Creates a text document.
    pub fn text(uri: impl Into<String>, text: impl Into<String>) -> Self {
        Self { uri: uri.into(), mime_type: None, body: ResourceBody::Text(text.into()) }
    }

    /// Creates a binary document.
    pub fn blob(uri: impl Into<String>, data: impl Into<Vec<u8>>) -> Self {
        Self { uri: uri.into(), mime_type: None, body: ResourceBody::Blob(Bytes(data.into())) }
    }

    /// Sets the media type.
    #[must_use]
    pub fn with_mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.mime_type = Some(mime_type.into());
        self
    }
}

/// The content of a [`Resource`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ResourceBody {
    /// Text.
    Text(String),
    /// Binary data.
    Blob(Bytes),
}

/// Bytes that are base64 in JSON.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct Bytes(pub Vec<u8>);

impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes", self.0.len())
    }
}

impl Serialize for Bytes {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&data_encoding::BASE64.encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        data_encoding::BASE64
            .decode(text.as_bytes())
            .map(Self)
            .map_err(|error| serde::de::Error::custom(format_args!("not base64: {error}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_as_base64_is_told_from_the_bytes_of_a_file() {
        assert!(Content::image("iVBORw0KGgoAAAANSUhEUg==", "image/png").is_base64());
        assert!(Content::image("data:image/png;base64,AAAA", "image/png").is_base64());
        assert!(Content::audio("UklGRiQAAABXQVZF", "audio/wav").is_base64());
        assert!(!Content::image(b"\x89PNG\r\n\x1a\n".to_vec(), "image/png").is_base64());
        assert!(!Content::image(b"/9j/\xff".to_vec(), "image/png").is_base64());
        assert!(!Content::text("iVBORw0KGgo").is_base64());
    }
    use serde_json::json;

    #[test]
    fn json_is_that_of_the_protocol_and_reads_back() {
        let link = Content::ResourceLink {
            uri: "file:///a".into(),
            name: "a".into(),
            description: None,
            mime_type: Some("text/plain".into()),
        };
        for (block, expected) in [
            (Content::text("hi"), json!({"type": "text", "text": "hi"})),
            (
                Content::image(*b"abc", "image/png"),
                json!({"type": "image", "data": "YWJj", "mimeType": "image/png"}),
            ),
            (
                Content::audio(*b"abc", "audio/wav"),
                json!({"type": "audio", "data": "YWJj", "mimeType": "audio/wav"}),
            ),
            (
                link,
                json!({"type": "resource_link", "uri": "file:///a", "name": "a", "mimeType": "text/plain"}),
            ),
            (
                Content::Resource { resource: Resource::text("x://1", "t").with_mime_type("text/css") },
                json!({"type": "resource", "resource": {"uri": "x://1", "mimeType": "text/css", "text": "t"}}),
            ),
            (
                Content::Resource { resource: Resource::blob("x://1", *b"abc") },
                json!({"type": "resource", "resource": {"uri": "x://1", "blob": "YWJj"}}),
            ),
        ] {
            let value = serde_json::to_value(&block).unwrap();
            assert_eq!(value, expected);
            assert_eq!(serde_json::from_value::<Content>(value).unwrap(), block);
        }
    }
}
