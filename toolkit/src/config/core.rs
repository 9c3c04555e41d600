//! What the configuration has of its own, beside what crates bring.

use crate::config::secret::Secret;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// When a model that repeats itself is stopped (`/loopGuard`): how often it may make the same call with the same result.
/// What is not said is left to the guard.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct LoopGuardSettings {
    /// After so many the model is told. From 1 to 1000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub tell: Option<u32>,
    /// After so many a person is asked. From 1 to 1000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub ask: Option<u32>,
    /// After so many the call is blocked. From 1 to 1000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub block: Option<u32>,
}

/// One agent (`/agents/<id>`), beside its tools and permissions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct AgentSettings {
    /// Its name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub name: Option<String>,
    /// The model that it uses, by its name in `models`; without it the default.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub model: Option<String>,
}

/// How an agent that tools are delegated to works (`/toolAgent`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct ToolAgentSettings {
    /// Whether it runs dangerous commands without asking. What is denied stays denied.
    pub auto_confirm_dangerous: bool,
    /// How many calls it may make for one task, from 1 to 10000.
    #[schemars(range(min = 1, max = 10_000))]
    pub max_tool_calls: u32,
    /// How long one task may take, in milliseconds, from 1000 to 86400000 (a day).
    #[schemars(range(min = 1_000, max = 86_400_000_u64))]
    pub timeout_ms: u64,
    /// The provider of its model. Without one, that of the agent that delegates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provider_id: Option<String>,
    /// Its model. Without one, that of the agent that delegates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

impl Default for ToolAgentSettings {
    fn default() -> Self {
        Self {
            auto_confirm_dangerous: false,
            max_tool_calls: 50,
            timeout_ms: 300_000,
            provider_id: None,
            model: None,
        }
    }
}

/// A server of the Model Context Protocol (`/mcp/<name>`): a command to start, or an address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[non_exhaustive]
pub enum McpServerSettings {
    /// A command that speaks over its standard input and output.
    Command(McpCommand),
    /// An address.
    Url(McpUrl),
    /// One that an earlier source states, switched off.
    Off(McpOff),
    /// One that cannot be used, since something that it names is not there: a variable of the environment, say.
    #[serde(skip)]
    #[schemars(skip)]
    Unavailable(McpUnavailable),
}

/// A server that is a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct McpCommand {
    /// The program to start.
    #[schemars(length(min = 1))]
    pub command: String,
    /// Its arguments.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Variables of its environment, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, Secret>,
    /// The directory that it works in. Without one, the workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// What the operating system keeps it from. Where that cannot be had, it is not started.
    #[serde(default, skip_serializing_if = "McpSandbox::is_off")]
    pub sandbox: McpSandbox,
    /// Whether it reaches the network from within a sandbox.
    #[serde(default = "yes")]
    pub network: bool,
    /// Whether to use it.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// How long an answer may take, in milliseconds, from 1 to 3600000 (an hour).
    #[serde(default = "minute")]
    #[schemars(range(min = 1, max = 3_600_000))]
    pub timeout_ms: u64,
    /// The most bytes of one message from it, from 1024 to 1073741824 (1 GiB). A longer answer is an error of its call.
    #[serde(default = "max_message_bytes", skip_serializing_if = "is_max_message_bytes")]
    #[schemars(range(min = 1024, max = 1_073_741_824))]
    pub max_message_bytes: usize,
}

/// What the operating system keeps a server from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum McpSandbox {
    /// Nothing.
    #[default]
    Off,
    /// Writing anywhere but to a directory for temporary files of its own.
    ReadOnly,
    /// Writing outside the workspace and such a directory.
    WorkspaceWrite,
}

impl McpSandbox {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
    fn is_off(&self) -> bool {
        *self == Self::Off
    }
}

/// A server at an address.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct McpUrl {
    /// Its address, `https://…` or `http://…`.
    #[schemars(regex(pattern = "^https?://"))]
    pub url: String,
    /// How it speaks. Without it, streamable HTTP is tried, and an event stream where the server has none.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub transport: Option<McpTransport>,
    /// Headers to send along, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, Secret>,
    /// How to sign in, where it wants to know who asks. With a header `Authorization` nobody signs in.
    #[serde(default, skip_serializing_if = "McpOAuth::is_default")]
    pub oauth: McpOAuth,
    /// Whether to use it.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// How long an answer may take, in milliseconds, from 1 to 3600000 (an hour).
    #[serde(default = "minute")]
    #[schemars(range(min = 1, max = 3_600_000))]
    pub timeout_ms: u64,
    /// The most bytes of one message from it, from 1024 to 1073741824 (1 GiB). A longer answer is an error of its call.
    #[serde(default = "max_message_bytes", skip_serializing_if = "is_max_message_bytes")]
    #[schemars(range(min = 1024, max = 1_073_741_824))]
    pub max_message_bytes: usize,
}

/// How a server at an address speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum McpTransport {
    /// Streamable HTTP, of the version 2025-03-26 and later.
    Http,
    /// An event stream, and an address for messages that it names: HTTP with SSE, of the version 2024-11-05.
    Sse,
}

/// How to sign in to a server at an address, by OAuth 2.1. What is not stated here is found out from the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct McpOAuth {
    /// Whether anybody signs in.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub enabled: bool,
    /// Who signs in: a person, or this program by itself.
    #[serde(default, skip_serializing_if = "McpGrant::is_default")]
    pub grant: McpGrant,
    /// The name under which this program is registered there. Without one it registers itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub client_id: Option<String>,
    /// The secret that goes with `clientId`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<Secret>,
    /// Who decides, as it calls itself: its `issuer`. Any other that the server names is refused, and gets neither tokens nor the secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub issuer: Option<String>,
    /// An address with a document about this program, which servers that read such take for its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^https://"))]
    pub client_metadata_url: Option<String>,
    /// What to ask leave for. Without any, what the server says is needed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
    /// The port of this machine that a person is sent back to, where the server knows of one alone. Without it, any that is free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub redirect_port: Option<u16>,
}

impl Default for McpOAuth {
    fn default() -> Self {
        Self {
            enabled: true,
            grant: McpGrant::default(),
            client_id: None,
            client_secret: None,
            issuer: None,
            client_metadata_url: None,
            scopes: Vec::new(),
            redirect_port: None,
        }
    }
}

impl McpOAuth {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Who signs in to a server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum McpGrant {
    /// A person, in a browser.
    #[default]
    AuthorizationCode,
    /// This program, by `clientId` and `clientSecret`.
    ClientCredentials,
}

impl McpGrant {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
    fn is_default(&self) -> bool {
        *self == Self::AuthorizationCode
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
fn is_yes(value: &bool) -> bool {
    *value
}

/// A server that is switched off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct McpOff {
    /// `false`.
    #[schemars(extend("enum" = [false]))]
    pub enabled: bool,
}

/// A server that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpUnavailable {
    /// Why, with the place in the configuration.
    pub reason: String,
}

fn yes() -> bool {
    true
}

fn minute() -> u64 {
    60_000
}

fn max_message_bytes() -> usize {
    64 << 20
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
fn is_max_message_bytes(bytes: &usize) -> bool {
    *bytes == max_message_bytes()
}

impl McpServerSettings {
    /// Whether to use it.
    pub fn enabled(&self) -> bool {
        match self {
            Self::Command(server) => server.enabled,
            Self::Url(server) => server.enabled,
            Self::Off(_) => false,
            Self::Unavailable(_) => true,
        }
    }

    /// How long an answer may take, in milliseconds.
    pub fn timeout_ms(&self) -> u64 {
        match self {
            Self::Command(server) => server.timeout_ms,
            Self::Url(server) => server.timeout_ms,
            Self::Off(_) | Self::Unavailable(_) => minute(),
        }
    }
}
