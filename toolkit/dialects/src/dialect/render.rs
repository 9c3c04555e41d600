//! Writes tool results, and tool calls, as messages for a provider.

mod kind;

use super::{Definitions, Dialect, names};
use data_encoding::BASE64;
use kind::media_type;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use toolkit_core::call::{CallArguments, ToolCall, ToolResult};
use toolkit_core::content::{Bytes, Content, Resource, ResourceBody};

/// The text to send where a provider accepts no empty text.
const NOTHING: &str = "Done.";

impl Dialect {
    /// Returns content as the parts of a message of the user: pictures, sounds and documents as far as the provider takes them there, and else
    /// a line of text that says what there is. Empty texts are left out.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolkit::{Content, dialects::Dialect};
    ///
    /// let content = [Content::text("What is this?"), Content::image(*b"abc", "image/png")];
    /// assert_eq!(
    ///     Dialect::Anthropic.render_content(&content)[1],
    ///     json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "YWJj"}})
    /// );
    /// ```
    pub fn render_content(self, content: &[Content]) -> Vec<Value> {
        self.provider().content(content)
    }
}

impl Definitions {
    /// Returns results as the next part of the conversation: messages, or items in Responses, or contents in Gemini.
    ///
    /// They are in the given order, and each refers to its call. If a provider has no field for failure, only the text shows it.
    ///
    /// | | a failure | pictures | sounds, other files |
    /// |---|---|---|---|
    /// | OpenAI Chat | by its text | PNG, JPEG, WebP, GIF that does not move: in one message of the user after all results | WAV and MP3 beside the pictures; else named |
    /// | OpenAI Responses | by its text | the same, as `input_image` | PDF as `input_file`; else named |
    /// | Anthropic | `is_error` | PNG, JPEG, GIF, WebP | PDF as a document; else named |
    /// | Gemini | `error` in place of `output` | PNG, JPEG, WebP, HEIC, HEIF: as parts after all results | usual sounds and PDF as parts; else named |
    /// | MCP | `isError` | yes | yes |
    ///
    /// *Named* means a line of text with the kind and the place of the content; a provider is never sent content that it refuses. Media
    /// types are recognised in any case, with parameters, and by common other names (`image/jpg`). Documents that are text become text.
    /// Structured data is contained in the text, and also separate in the Model Context Protocol.
    pub fn render(&self, results: &[ToolResult]) -> Vec<Value> {
        self.dialect.provider().results(self, results)
    }

    /// Returns calls as the model made them: the message that comes before their results. For a host that stores conversations in its own
    /// form; [`parse`](Self::parse) reads the message back. A host that has the provider's original message sends that instead, since it
    /// contains more than calls.
    pub fn render_calls(&self, calls: &[ToolCall]) -> Vec<Value> {
        if calls.is_empty() {
            return Vec::new();
        }
        let calls = calls.iter().map(|call| Said {
            id: &call.id,
            name: self.shown_name(&call.name),
            arguments: &call.arguments,
        });
        self.dialect.provider().calls(calls.collect())
    }

    /// The name by which the model knows a tool; of one that is not here, a name that the provider takes.
    pub(super) fn shown_name<'a>(&'a self, name: &'a str) -> Cow<'a, str> {
        match self.tool(name) {
            Some(tool) => Cow::Borrowed(&tool.shown_name),
            None => names::shown_alone(self.dialect, name),
        }
    }
}

/// A call in the form in which the model made it.
pub(super) struct Said<'a> {
    pub(super) id: &'a str,
    pub(super) name: Cow<'a, str>,
    arguments: &'a CallArguments,
}

impl Said<'_> {
    pub(super) fn text(&self) -> String {
        match self.arguments.as_text() {
            Ok(text) => text.to_owned(),
            Err(value) => value.to_string(),
        }
    }

    /// Returns the arguments as an object, for providers that accept only objects. Any other value is wrapped in one, so that the model's
    /// text is preserved.
    pub(super) fn object(&self) -> Value {
        let value = match self.arguments.as_text() {
            Ok(text) => serde_json::from_str(text).unwrap_or_else(|_| text.into()),
            Err(value) => value.clone(),
        };
        if value.is_object() { value } else { json!({ "arguments": value }) }
    }
}

/// A block of a result, as far as the distinction matters to providers.
pub(super) enum Part<'a> {
    Text(String),
    /// The data, and its media type in normal form.
    Image(&'a [u8], String),
    Audio(&'a [u8], String),
    /// The data, its media type, and its identifying URI.
    File(&'a [u8], String, &'a str),
}

/// Returns the blocks of a result. Empty texts are left out, because some providers refuse them.
pub(super) fn parts(result: &ToolResult) -> Vec<Part<'_>> {
    match &result.outcome {
        Err(error) => vec![Part::Text(non_empty(error.message()))],
        Ok(output) => content_parts(&output.content),
    }
}

/// The same of content.
pub(super) fn content_parts(content: &[Content]) -> Vec<Part<'_>> {
    content
        .iter()
        .map(|block| match block {
            Content::Image { data: Bytes(data), mime_type } => Part::Image(data, media_type(mime_type)),
            Content::Audio { data: Bytes(data), mime_type } => Part::Audio(data, media_type(mime_type)),
            Content::Resource {
                resource: Resource { uri, mime_type, body: ResourceBody::Blob(Bytes(data)), .. },
            } => match media_type(mime_type.as_deref().unwrap_or_default()) {
                kind if kind.starts_with("image/") => Part::Image(data, kind),
                kind if kind.starts_with("audio/") => Part::Audio(data, kind),
                kind => Part::File(data, kind, uri),
            },
            other => Part::Text(other.to_model_text().unwrap_or_default().into_owned()),
        })
        .filter(|part| !matches!(part, Part::Text(text) if text.is_empty()))
        .collect()
}

impl Part<'_> {
    /// Returns a description of the part, if it cannot be sent otherwise.
    pub(super) fn named(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Image(data, kind) => format!("[a picture, {}]", size(data, kind)),
            Self::Audio(data, kind) => format!("[a sound, {}]", size(data, kind)),
            Self::File(data, kind, uri) => format!("[the file {uri}, {}]", size(data, kind)),
        }
    }
}

fn size(data: &[u8], kind: &str) -> String {
    let kind = if kind.is_empty() { "of an unknown kind" } else { kind };
    format!("{kind}, {} bytes; it cannot be shown here", data.len())
}

pub(super) fn non_empty(text: &str) -> String {
    if text.trim().is_empty() { NOTHING.to_owned() } else { text.to_owned() }
}

pub(super) fn data_url(data: &[u8], kind: &str) -> String {
    format!("data:{kind};base64,{}", BASE64.encode(data))
}

/// The name of a PDF file, by what identifies it.
pub(super) fn file_name(uri: &str) -> &str {
    uri.rsplit('/').next().filter(|name| !name.is_empty()).unwrap_or("file.pdf")
}

/// Returns an object with these members.
pub(super) fn object<const N: usize>(members: [(&str, Value); N]) -> Map<String, Value> {
    members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}
