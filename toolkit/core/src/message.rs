//! Messages of a session so far, which a host gives to a call.

use crate::call::ToolCall;
use crate::content::Content;
use serde::{Deserialize, Serialize};

/// A message of a session, as `ToolContext::messages` returns it.
///
/// The host decides which messages a call gets, and how much of each: see `CallOptions::messages`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Message {
    /// The id that the host gives the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The author.
    pub role: MessageRole,
    /// Its content blocks.
    #[serde(default)]
    pub content: Vec<Content>,
    /// The tool calls that a model made in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
    /// The id of the call whose result the message is, if its role is [`MessageRole::Tool`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
}

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum MessageRole {
    /// The host: the instructions of the session.
    System,
    /// A person.
    User,
    /// The model.
    Assistant,
    /// A tool: the result of a call.
    Tool,
}

impl Message {
    /// Creates a message of one content block.
    pub fn new(role: MessageRole, content: impl Into<Content>) -> Self {
        Self { id: None, role, content: vec![content.into()], calls: Vec::new(), call_id: None }
    }

    /// Sets the id of the message.
    #[must_use]
    pub fn with_id(mut self, id: impl Into<String>) -> Self {
        self.id = Some(id.into());
        self
    }

    /// Adds a content block.
    #[must_use]
    pub fn with_content(mut self, block: impl Into<Content>) -> Self {
        self.content.push(block.into());
        self
    }

    /// Adds a tool call that the model made.
    #[must_use]
    pub fn with_call(mut self, call: ToolCall) -> Self {
        self.calls.push(call);
        self
    }

    /// Sets the id of the call whose result the message is.
    #[must_use]
    pub fn with_call_id(mut self, call_id: impl Into<String>) -> Self {
        self.call_id = Some(call_id.into());
        self
    }

    /// Returns all text blocks, joined by a newline.
    pub fn to_text(&self) -> String {
        let texts: Vec<&str> = self.content.iter().filter_map(Content::as_text).collect();
        texts.join("\n")
    }
}
