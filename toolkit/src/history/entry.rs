//! A recorded call as readers get it: without secrets.

use crate::ask_record::{RecordedAsk, microseconds};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::fmt;
use std::time::{Duration, SystemTime};
use toolkit_core::caller::Caller;
use toolkit_core::error::ToolError;
use toolkit_core::redact::Redactor;
use toolkit_core::unix_time;

/// The maximum number of bytes recorded of an output's texts, and of arguments, details and metadata each.
pub(super) const LONGEST: usize = 64 << 10;

/// A recorded call, without secrets. Its JSON is described at [`JsonlHistory`](super::JsonlHistory).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct HistoryEntry {
    /// The start time; in JSON, milliseconds since 1970.
    #[serde(with = "unix_time")]
    pub time: SystemTime,
    /// The key of the call, unique within a history.
    pub key: String,
    /// The call's id, as the model or the host gave it: not unique.
    pub id: String,
    /// The tool's name.
    pub tool: String,
    /// The name in the tool call, if it is not the tool's own name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub called_as: Option<String>,
    /// The caller.
    #[serde(default)]
    pub caller: RecordedCaller,
    /// The arguments as they were sent; a string if the text sent was not JSON.
    #[serde(default)]
    pub arguments: Value,
    /// True if arguments, details, metadata or error were too long and are shortened or left out.
    #[serde(default, skip_serializing_if = "is_false")]
    pub cut: bool,
    /// The outcome of the call.
    pub status: CallStatus,
    /// The duration; in JSON, microseconds.
    #[serde(default, rename = "durationUs", with = "microseconds", skip_serializing_if = "Option::is_none")]
    pub duration: Option<Duration>,
    /// The approvals and values that the call asked for, at most 20, in order. Includes the questions of the loop
    /// guard, of inspectors and of the core before the function ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asks: Vec<RecordedAsk>,
    /// The output, if the call succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<RecordedOutput>,
    /// The error, if the call failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<ToolError>,
}

/// The outcome of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum CallStatus {
    /// The call is running.
    Running,
    /// The call succeeded.
    Ok,
    /// The call failed.
    Error,
    /// The call was dropped, or its process ended, before it finished.
    Interrupted,
}

/// The recorded part of a [`Caller`]: everything but its data directories and `extra`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct RecordedCaller {
    /// The agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The message that the call belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The conversation within a channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// The channel through which the session came in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// The account in that channel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
    /// The provider of the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The depth of this agent: the number of agents above it.
    #[serde(skip_serializing_if = "is_zero")]
    pub depth: u32,
    /// The directory that bounds file access.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
}

/// The recorded part of an output.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct RecordedOutput {
    /// The content sent to the model.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub content: Vec<RecordedContent>,
    /// The structured data, whole or absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
    /// The headline.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Facts for user interfaces.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
    /// Files that the call created, changed or removed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files_modified: Vec<String>,
    /// Files that are attached to the output.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attachments: Vec<String>,
}

/// The recorded part of a content block. Of content other than text only the size is recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum RecordedContent {
    /// Plain text.
    Text {
        /// The beginning of the text; at most 64 KiB of all blocks together.
        text: String,
        /// The number of bytes that are not recorded.
        #[serde(default, skip_serializing_if = "is_none")]
        omitted_bytes: usize,
    },
    /// An image.
    Image {
        /// The media type.
        mime_type: String,
        /// The size in bytes.
        bytes: usize,
    },
    /// An audio clip.
    Audio {
        /// The media type.
        mime_type: String,
        /// The size in bytes.
        bytes: usize,
    },
    /// A link to a resource.
    ResourceLink {
        /// The URI of the resource.
        uri: String,
        /// The name of the resource.
        name: String,
    },
    /// An embedded resource.
    Resource {
        /// The URI of the resource.
        uri: String,
        /// The media type.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mime_type: Option<String>,
        /// The beginning of the resource, if it is text.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        text: Option<String>,
        /// The number of bytes that are not recorded.
        #[serde(default, skip_serializing_if = "is_none")]
        omitted_bytes: usize,
    },
    /// A content block that a later version recorded.
    #[serde(other)]
    Other,
}

impl HistoryEntry {
    /// Returns the text blocks of the output, joined by a newline, or the error's message.
    pub fn text(&self) -> String {
        if let Some(error) = &self.error {
            return error.message().to_owned();
        }
        let texts = self.output.iter().flat_map(|output| &output.content).filter_map(|block| match block {
            RecordedContent::Text { text, .. } => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }
}

/// Formats the call in one line: tool, arguments, outcome and duration.
impl fmt::Display for HistoryEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ", self.tool.escape_debug(), self.arguments)?;
        match (&self.error, self.status) {
            (Some(error), _) => write!(f, "failed: {}", error.message().escape_debug())?,
            (None, CallStatus::Running) => f.write_str("is running")?,
            (None, CallStatus::Interrupted) => f.write_str("was interrupted")?,
            (None, _) => f.write_str("succeeded")?,
        }
        match self.duration {
            Some(duration) => write!(f, " ({duration:.1?})"),
            None => Ok(()),
        }
    }
}

impl RecordedCaller {
    pub(super) fn new(caller: &Caller, redactor: &Redactor) -> Self {
        let text = |text: &Option<String>| text.as_deref().map(|text| redactor.redact(text).into_owned());
        let workspace = caller.workspace.as_ref().map(|path| path.to_string_lossy());
        Self {
            agent: text(&caller.agent),
            session: text(&caller.session_id),
            message: text(&caller.message_id),
            conversation: text(&caller.conversation_id),
            channel: text(&caller.channel),
            account: text(&caller.account_id),
            provider: text(&caller.provider),
            model: text(&caller.model),
            depth: caller.depth,
            workspace: workspace.map(|path| redactor.redact(&path).into_owned()),
        }
    }
}

impl RecordedOutput {
    pub(super) fn redacted(&self, redactor: &Redactor) -> Self {
        let mut output = self.clone();
        let mut room = LONGEST;
        for block in &mut output.content {
            block.redact(redactor, &mut room);
        }
        if let Some(details) = &mut output.details {
            redactor.redact_value(details);
        }
        redactor.redact_members(&mut output.metadata, usize::MAX);
        let paths = output.files_modified.iter_mut().chain(&mut output.attachments);
        for text in paths.chain(&mut output.title) {
            redactor.redact_string(text, usize::MAX);
        }
        output
    }
}

impl RecordedContent {
    /// Redacts the block. `room` is the number of bytes of text that may still be shown; if bytes are omitted, the
    /// whole text is longer than that.
    fn redact(&mut self, redactor: &Redactor, room: &mut usize) {
        let all = usize::MAX;
        match self {
            Self::Text { text, .. } | Self::Resource { text: Some(text), .. } => {
                let length = text.len();
                redactor.redact_string(text, *room);
                *room = room.saturating_sub(length);
            }
            Self::Image { mime_type, .. } | Self::Audio { mime_type, .. } => {
                redactor.redact_string(mime_type, all);
            }
            Self::ResourceLink { uri, name } => {
                redactor.redact_string(uri, all);
                redactor.redact_string(name, all);
            }
            Self::Resource { text: None, .. } | Self::Other => {}
        }
        if let Self::Resource { uri, mime_type, .. } = self {
            redactor.redact_string(uri, all);
            if let Some(mime_type) = mime_type {
                redactor.redact_string(mime_type, all);
            }
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's form")]
fn is_false(value: &bool) -> bool {
    !value
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's form")]
fn is_zero(value: &u32) -> bool {
    *value == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's form")]
fn is_none(bytes: &usize) -> bool {
    *bytes == 0
}
