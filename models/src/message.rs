//! Messages of a conversation, in the form in which transcripts keep them.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolkit::{Content, ToolCall, ToolError, ToolResult, dialects::Dialect, output::Bytes};

/// A part of a user's message or of a tool's result: text, an image, a sound, a document.
pub type Part = Content;

/// A message of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Message {
    /// A message of the user.
    User(UserMessage),
    /// An answer of the model.
    Assistant(AssistantMessage),
    /// The results of the tool calls of the assistant message before it.
    Tools(ToolResults),
}

impl Message {
    /// Returns a user's message with one text.
    pub fn user(text: impl Into<String>) -> Self {
        Self::User(UserMessage { content: vec![Part::text(text)] })
    }

    /// Returns an assistant message with one text.
    pub fn assistant(text: impl Into<String>) -> Self {
        Self::Assistant(AssistantMessage::text(text))
    }

    /// Returns a message with the results of tool calls.
    pub fn tools(results: impl IntoIterator<Item = impl Into<ToolOutput>>) -> Self {
        Self::Tools(ToolResults { results: results.into_iter().map(Into::into).collect() })
    }
}

/// A message of the user.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct UserMessage {
    /// The content, in order.
    pub content: Vec<Part>,
}

/// An answer of the model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AssistantMessage {
    /// The content, in order.
    pub content: Vec<AssistantPart>,
    /// The provider's own message. It is sent back to the same model as it came: signatures of reasoning need that. A host that changes
    /// `content` removes it; it is also not used if its tool calls are not those of `content`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raw: Option<RawMessage>,
}

impl AssistantMessage {
    /// Returns a message with one text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![AssistantPart::Text { text: text.into() }], raw: None }
    }

    /// Returns a message with these tool calls.
    pub fn calls(calls: impl IntoIterator<Item = ToolCall>) -> Self {
        Self { content: calls.into_iter().map(AssistantPart::ToolCall).collect(), raw: None }
    }

    /// Returns the tool calls, in order.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.content.iter().filter_map(|part| match part {
            AssistantPart::ToolCall(call) => Some(call),
            _ => None,
        })
    }

    /// Returns the text of all text parts.
    pub fn to_text(&self) -> String {
        let texts = self.content.iter().filter_map(|part| match part {
            AssistantPart::Text { text } => Some(text.as_str()),
            _ => None,
        });
        texts.collect()
    }

    /// Returns true if the message has neither content nor the provider's own message.
    pub fn is_empty(&self) -> bool {
        self.content.is_empty() && self.raw.is_none()
    }
}

/// A part of an assistant message.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum AssistantPart {
    /// Text.
    Text {
        /// The text.
        text: String,
    },
    /// Reasoning, or a summary of it. The text is empty if the provider keeps it secret.
    Reasoning {
        /// The text.
        text: String,
        /// The provider's signature. Only [`RawMessage`] is sent back; this is for records.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
    },
    /// A tool call. The name is the tool's own; the arguments are as the model wrote them.
    ToolCall(ToolCall),
    /// An image that the model made.
    #[serde(rename_all = "camelCase")]
    Image {
        /// The encoded file.
        data: Bytes,
        /// Its media type.
        mime_type: String,
    },
}

/// An assistant message as the provider sent it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RawMessage {
    /// The dialect of the message.
    pub dialect: Dialect,
    /// The model that wrote it, as the request named it.
    pub model: String,
    /// The message: a message of Chat Completions or Messages, a list of output items of Responses, a content of Gemini.
    pub value: Value,
}

/// The results of the tool calls of one assistant message.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolResults {
    /// One result for each call, in the order of the calls.
    pub results: Vec<ToolOutput>,
}

/// The result of a tool call, as the model gets it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ToolOutput {
    /// The id of the call.
    pub call_id: String,
    /// The tool's name, as it was called.
    pub name: String,
    /// The content, in order.
    pub content: Vec<Part>,
    /// True if the call failed. Then the content is the error message.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_error: bool,
}

impl ToolOutput {
    /// Returns a result with one text.
    pub fn text(call: &ToolCall, text: impl Into<String>) -> Self {
        let content = vec![Part::text(text)];
        Self { call_id: call.id.clone(), name: call.name.clone(), content, is_error: false }
    }

    /// Returns the result of a call that failed.
    pub fn error(call: &ToolCall, message: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::text(call, message) }
    }

    /// Returns the text of all text parts, in lines.
    pub fn to_text(&self) -> String {
        let texts: Vec<&str> = self.content.iter().filter_map(Content::as_text).collect();
        texts.join("\n")
    }

    /// Returns the result as the core renders it, with the name of the tool in the call.
    pub(crate) fn to_result(&self, name: &str) -> ToolResult {
        let outcome = if self.is_error {
            Err(ToolError::failed(self.to_text()))
        } else {
            let mut output = toolkit::ToolOutput::default();
            output.content.clone_from(&self.content);
            Ok(output)
        };
        ToolResult::new(self.call_id.clone(), name, outcome)
    }
}

impl From<&ToolResult> for ToolOutput {
    fn from(result: &ToolResult) -> Self {
        Self {
            call_id: result.id.clone(),
            name: result.name.clone(),
            content: result.content(),
            is_error: result.is_error(),
        }
    }
}

impl From<ToolResult> for ToolOutput {
    fn from(result: ToolResult) -> Self {
        let is_error = result.is_error();
        let content = match result.outcome {
            Ok(output) => output.content,
            Err(error) => vec![Part::text(error.message())],
        };
        Self { call_id: result.id, name: result.name, content, is_error }
    }
}
