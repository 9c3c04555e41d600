//! What each provider of models wants to be told of tools, how it says that one is to be called, and how it is answered.
//!
//! A [`Dialect`] writes definitions ([`Definitions`]), and these read calls, whole or streamed, and write results.

mod calls;
mod definitions;
mod names;
mod read_back;
mod render;
mod schema;
mod stream;

pub use calls::{CallFormatError, MAX_ARGUMENT_BYTES, MAX_CALLS};
pub use definitions::{Definitions, DialectTool, Strictness};
pub(crate) use schema::for_people;
pub use schema::{DialectSchema, Loosened, MAX_RECURSION};
pub use stream::{CallStream, JsonEvents, StreamedCall};

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// How a provider writes tools, their calls and their results.
///
/// ```
/// use serde_json::json;
/// use toolkit::prelude::*;
/// use toolkit::{CallOptions, Dialect};
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
/// Schemas are the tools' own, as far as the dialect can say them. What it cannot say is left out, never made narrower: a
/// call that a tool takes can be written in every dialect, and what a tool does not take is refused by
/// [`Toolbox::call`](crate::Toolbox::call), whoever wrote it. [`DialectTool::loosened`] tells what was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Dialect {
    /// OpenAI's Chat Completions, and all that speak like it: functions that are not strict.
    #[serde(rename = "openai-chat")]
    OpenAiChat,
    /// OpenAI's Chat Completions with strict functions: what the model writes fits the schema.
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
    /// Google's Gemini, of its own interface and of Vertex AI.
    Gemini,
    /// The Model Context Protocol.
    Mcp,
}

impl Dialect {
    /// All of them.
    pub const ALL: &'static [Self] = &[
        Self::OpenAiChat,
        Self::OpenAiChatStrict,
        Self::OpenAiResponses,
        Self::OpenAiResponsesStrict,
        Self::Anthropic,
        Self::Gemini,
        Self::Mcp,
    ];

    /// What it is called in a configuration and on a command line, such as `openai-chat-strict`.
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

    /// Whether the provider is asked to hold the model to the schemas.
    pub const fn is_strict(self) -> bool {
        matches!(self, Self::OpenAiChatStrict | Self::OpenAiResponsesStrict)
    }

    /// The provider's own tool that finds those whose definitions are not shown, as the documents of Anthropic ("tool search tool",
    /// by BM25) and OpenAI ("tool search", by the provider) have it.
    fn finder(self) -> Option<serde_json::Value> {
        match self {
            Self::Anthropic => Some(serde_json::json!({
                "type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"
            })),
            Self::OpenAiResponses | Self::OpenAiResponsesStrict => {
                Some(serde_json::json!({"type": "tool_search"}))
            }
            _ => None,
        }
    }

    /// The same interface without holding the model to anything.
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

/// A name that no dialect has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no dialect `{}`; there are {}", crate::escape::escape_line(.0), known())]
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
