//! The formats in which each model provider expects tools, makes tool calls, and expects tool results.
//!
//! A [`Dialect`] writes definitions ([`Definitions`]), which read calls, whole or streamed, and write results.

mod calls;
mod definitions;
mod names;
mod other_names;
mod provider;
mod read_back;
mod render;
mod schema;
mod stream;

pub use calls::{CallFormatError, MAX_ARGUMENT_BYTES, MAX_CALLS};
pub use definitions::{Definitions, DialectTool, Strictness};
#[doc(hidden)]
pub use other_names::AsDialect;
#[doc(hidden)]
pub use schema::for_people;
pub use schema::{DialectSchema, MAX_RECURSION, SchemaLoss};
pub use stream::{CallStream, JsonEvents, StreamedCall};

use provider::{Anthropic, Chat, Gemini, Mcp, Provider, Responses};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A provider's format of tools, tool calls and tool results.
///
/// ```
/// use serde_json::json;
/// use toolkit::prelude::*;
/// use toolkit::{CallOptions, dialects::Dialect};
///
/// /// Looks up the weather.
/// #[tool(read_only)]
/// async fn weather(
///     /// Where.
///     city: String,
///     /// In how many days.
///     #[arg(range(0..=7))] days: Option<u8>,
/// ) -> String {
///     format!("{city}: {}", if days.is_none() { "sun" } else { "rain" })
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let toolkit = Toolkit::empty().tool(toolkit::tool_ref!(weather)).build()?;
/// let toolbox = toolkit.toolbox(&Caller::new()).await;
/// let definitions = toolbox.definitions_for(Dialect::OpenAiChatStrict);
/// // What goes into the request, as `tools`.
/// assert_eq!(definitions.to_json()[0]["function"]["parameters"]["required"], json!(["city", "days"]));
///
/// // What comes back: here every argument is there, and `null` says that one is not meant.
/// let message = json!({"role": "assistant", "tool_calls": [{"id": "call_1", "type": "function",
///     "function": {"name": "weather", "arguments": r#"{"city": "Bern", "days": null}"#}}]});
/// let results = toolbox.call_all(definitions.parse(&message)?, CallOptions::default()).await;
/// assert_eq!(
///     definitions.render(&results),
///     [json!({"role": "tool", "tool_call_id": "call_1", "content": "Bern: sun"})]
/// );
/// # Ok(()) }
/// ```
///
/// The schemas are the tools' own, as far as the dialect can express them. A part that it cannot express is left out, so a schema
/// never becomes narrower: every call that a tool accepts can be written in every dialect, and a call that a tool does not accept
/// is refused by `Toolbox::call`, whoever wrote it. [`DialectTool::loosened`] lists the parts that were
/// left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Dialect {
    /// OpenAI's Chat Completions, and compatible interfaces: functions that are not strict.
    #[serde(rename = "openai-chat")]
    OpenAiChat,
    /// OpenAI's Chat Completions with strict functions: the model's arguments match the schema.
    #[serde(rename = "openai-chat-strict")]
    OpenAiChatStrict,
    /// OpenAI's Responses: functions that are not strict.
    #[serde(rename = "openai-responses")]
    OpenAiResponses,
    /// OpenAI's Responses with strict functions.
    #[serde(rename = "openai-responses-strict")]
    OpenAiResponsesStrict,
    /// Anthropic's Messages.
    Anthropic,
    /// Google's Gemini, through its own interface and Vertex AI.
    Gemini,
    /// The Model Context Protocol.
    Mcp,
}

impl Dialect {
    /// All dialects.
    pub const ALL: &'static [Self] = &[
        Self::OpenAiChat,
        Self::OpenAiChatStrict,
        Self::OpenAiResponses,
        Self::OpenAiResponsesStrict,
        Self::Anthropic,
        Self::Gemini,
        Self::Mcp,
    ];

    /// Returns the name in a configuration and on a command line, such as `openai-chat-strict`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiChatStrict => "openai-chat-strict",
            Self::OpenAiResponses => "openai-responses",
            Self::OpenAiResponsesStrict => "openai-responses-strict",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Mcp => "mcp",
        }
    }

    /// Returns true if the provider is asked to enforce the schemas.
    pub const fn is_strict(self) -> bool {
        matches!(self, Self::OpenAiChatStrict | Self::OpenAiResponsesStrict)
    }

    /// Returns true if the provider has a tool of its own that finds those whose definitions are not shown.
    #[doc(hidden)]
    pub fn has_finder(self) -> bool {
        self.provider().finder().is_some()
    }

    /// Returns the interface that this dialect is of.
    fn provider(self) -> &'static dyn Provider {
        match self {
            Self::OpenAiChat => &Chat { is_strict: false },
            Self::OpenAiChatStrict => &Chat { is_strict: true },
            Self::OpenAiResponses => &Responses { is_strict: false },
            Self::OpenAiResponsesStrict => &Responses { is_strict: true },
            Self::Anthropic => &Anthropic,
            Self::Gemini => &Gemini,
            Self::Mcp => &Mcp,
        }
    }

    /// Returns the same interface without enforced schemas.
    const fn plain(self) -> Self {
        match self {
            Self::OpenAiChatStrict => Self::OpenAiChat,
            Self::OpenAiResponsesStrict => Self::OpenAiResponses,
            other => other,
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The error for a name that no dialect has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no dialect `{}`; there are {}", toolkit_core::escape::escape_line(.0), known())]
pub struct UnknownDialect(String);

fn known() -> String {
    Dialect::ALL.iter().map(|dialect| format!("`{dialect}`")).collect::<Vec<_>>().join(", ")
}

impl FromStr for Dialect {
    type Err = UnknownDialect;

    fn from_str(name: &str) -> Result<Self, UnknownDialect> {
        let found = Self::ALL.iter().copied().find(|dialect| dialect.name() == name);
        found.ok_or_else(|| UnknownDialect(name.to_owned()))
    }
}
