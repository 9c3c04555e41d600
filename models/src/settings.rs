//! The section `models` of the configuration.

use crate::model::Price;
use crate::request::Thinking;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};
use std::borrow::Cow;
use std::collections::BTreeMap;
use toolkit::{
    config::{ConfigSection, Secret},
    dialects::Dialect,
};

/// The section `models`: models by name, and which of them is the default.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
pub struct ModelsSettings {
    /// The name of the model that is used if none is named. Without it, the only model there is.
    #[schemars(length(min = 1))]
    pub default: Option<String>,
    /// The models, by name.
    #[serde(flatten)]
    pub models: BTreeMap<String, ModelSettings>,
}

/// One model. A local server needs `baseUrl` alone.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct ModelSettings {
    /// The interface of the server: `openai-chat` (Chat Completions, also of llama.cpp, Ollama, vLLM and others), `openai-responses`,
    /// `anthropic` or `gemini`. With `baseUrl` alone it is `openai-chat`.
    pub provider: Option<Provider>,
    /// The model, as the server names it. Without it, the first one that the server lists.
    #[schemars(length(min = 1, max = 300))]
    pub model: Option<String>,
    /// The address of the server's interface, up to and without `/chat/completions`, `/responses`, `/v1/messages` or `/models`. Without it,
    /// that of the provider.
    #[schemars(regex(pattern = r"^https?://[^?#\s]+$"))]
    pub base_url: Option<String>,
    /// The key that the server wants.
    pub api_key: Option<Secret>,
    /// Further headers of each request, by name.
    #[serde(default)]
    pub headers: BTreeMap<String, Secret>,
    /// The size of the context window in tokens, from 256.
    #[schemars(range(min = 256))]
    pub context_tokens: Option<u64>,
    /// The most tokens of an answer, from 1.
    #[schemars(range(min = 1))]
    pub max_tokens: Option<u32>,
    /// The models that are used instead if this one fails, by name and in this order.
    #[serde(default)]
    pub fallback: Vec<String>,
    /// The price of a million tokens.
    pub price: Option<Price>,
    /// How much the model reasons, unless a request says otherwise. Without it, the server decides.
    pub thinking: Option<Thinking>,
    /// True if tools are defined as strict functions of OpenAI, so that the server holds the model to their schemas.
    #[serde(default)]
    pub strict: bool,
    /// How the server is told of the JSON Schema of an answer.
    #[serde(default)]
    pub response_format: ResponseFormat,
    /// How the model calls tools.
    #[serde(default)]
    pub tool_calls: ToolCalling,
    /// The longest time in seconds without a byte from the server, from 1 to 3600.
    #[serde(default = "idle_timeout")]
    #[schemars(range(min = 1, max = 3600))]
    pub idle_timeout_seconds: u64,
    /// The longest time in seconds to make a connection, from 1 to 300.
    #[serde(default = "connect_timeout")]
    #[schemars(range(min = 1, max = 300))]
    pub connect_timeout_seconds: u64,
    /// How often a request is sent again after a failure, up to 10.
    #[serde(default = "max_retries")]
    #[schemars(range(max = 10))]
    pub max_retries: u32,
}

fn idle_timeout() -> u64 {
    300
}

fn connect_timeout() -> u64 {
    10
}

fn max_retries() -> u32 {
    3
}

impl Default for ModelSettings {
    fn default() -> Self {
        Self {
            provider: None,
            model: None,
            base_url: None,
            api_key: None,
            headers: BTreeMap::new(),
            context_tokens: None,
            max_tokens: None,
            fallback: Vec::new(),
            price: None,
            thinking: None,
            strict: false,
            response_format: ResponseFormat::default(),
            tool_calls: ToolCalling::default(),
            idle_timeout_seconds: idle_timeout(),
            connect_timeout_seconds: connect_timeout(),
            max_retries: max_retries(),
        }
    }
}

/// The interface of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Provider {
    /// Chat Completions of OpenAI, and of the many servers that speak like it.
    OpenAiChat,
    /// Responses of OpenAI.
    OpenAiResponses,
    /// Messages of Anthropic.
    Anthropic,
    /// `generateContent` of Gemini.
    Gemini,
}

impl Provider {
    const NAMES: [(&str, Self); 6] = [
        ("openai-chat", Self::OpenAiChat),
        ("openai-compatible", Self::OpenAiChat),
        ("openai-responses", Self::OpenAiResponses),
        ("openai", Self::OpenAiResponses),
        ("anthropic", Self::Anthropic),
        ("gemini", Self::Gemini),
    ];

    pub(crate) const fn base_url(self) -> &'static str {
        match self {
            Self::OpenAiChat | Self::OpenAiResponses => "https://api.openai.com/v1",
            Self::Anthropic => "https://api.anthropic.com",
            Self::Gemini => "https://generativelanguage.googleapis.com/v1beta",
        }
    }

    pub(crate) const fn dialect(self, strict: bool) -> Dialect {
        match (self, strict) {
            (Self::OpenAiChat, false) => Dialect::OpenAiChat,
            (Self::OpenAiChat, true) => Dialect::OpenAiChatStrict,
            (Self::OpenAiResponses, false) => Dialect::OpenAiResponses,
            (Self::OpenAiResponses, true) => Dialect::OpenAiResponsesStrict,
            (Self::Anthropic, _) => Dialect::Anthropic,
            (Self::Gemini, _) => Dialect::Gemini,
        }
    }

    /// The variable of the environment that usually holds the key.
    pub(crate) const fn usual_variable(self) -> &'static str {
        match self {
            Self::OpenAiChat | Self::OpenAiResponses => "OPENAI_API_KEY",
            Self::Anthropic => "ANTHROPIC_API_KEY",
            Self::Gemini => "GEMINI_API_KEY",
        }
    }
}

impl<'de> Deserialize<'de> for Provider {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = Cow::<'_, str>::deserialize(deserializer)?;
        let found = Self::NAMES.into_iter().find(|(known, _)| *known == name);
        found.map(|(_, provider)| provider).ok_or_else(|| serde::de::Error::custom("unknown provider"))
    }
}

impl JsonSchema for Provider {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Provider".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": Self::NAMES.map(|(name, _)| name) })
    }
}

/// How a server is told of the JSON Schema of an answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ResponseFormat {
    /// By the schema itself.
    #[default]
    JsonSchema,
    /// By demanding an object; the schema stands in the prompt.
    JsonObject,
    /// By the prompt alone.
    None,
}

/// How a model calls tools.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ToolCalling {
    /// By the provider's own tool calls.
    #[default]
    Native,
    /// By its text, which the server holds to a JSON Schema: for small models, and for servers without tool calls.
    Json,
}

toolkit::config_section!(ConfigSection::at::<ModelsSettings>("models").members().also_known_as(&[
    "model",
    "llm",
    "providers"
]));
