//! The configuration keys of the core, besides the sections that crates declare.

use crate::section::Secret;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The loop guard (`/loopGuard`): limits for identical calls with identical results. The guard's defaults apply to unset limits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct LoopGuardSettings {
    /// The number of identical calls after which the model is warned, from 1 to 1000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub tell: Option<u32>,
    /// The number of identical calls after which a person's approval is needed, from 1 to 1000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub ask: Option<u32>,
    /// The number of identical calls after which the call is blocked, from 1 to 1000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1000))]
    pub block: Option<u32>,
}

/// The history of tool calls that a host keeps on disk (`/history`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct HistorySettings {
    /// If false, no call is recorded on disk.
    pub enabled: bool,
    /// The maximum age of recorded calls, in days, from 1 to 3650.
    #[schemars(range(min = 1, max = 3_650))]
    pub max_days: u32,
    /// The maximum size of all files of the history together, in bytes, at least 65536. The oldest calls are removed first.
    #[schemars(range(min = 65_536))]
    pub max_bytes: u64,
}

impl Default for HistorySettings {
    fn default() -> Self {
        Self { enabled: true, max_days: 30, max_bytes: 256 << 20 }
    }
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
    /// The directory that it works in: absolute, or beginning with `~/`, or relative to the directory of the file that it stands in. Default:
    /// the workspace of the caller.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub workspace: Option<PathBuf>,
}

/// An MCP server (`/mcp/<name>`): a command to start, or a URL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[non_exhaustive]
pub enum McpServerSettings {
    /// A command that serves MCP over stdio.
    Command(McpCommand),
    /// A URL.
    Url(McpUrl),
    /// Disables a server that another configuration source declares.
    Off(McpOff),
    /// A server that cannot be used because something it refers to is missing, such as an environment variable.
    #[serde(skip)]
    #[schemars(skip)]
    Unavailable(McpUnavailable),
}

/// A server started as a command.
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
    /// Its environment variables, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, Secret>,
    /// Its working directory. Default: the workspace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Its sandbox. If the sandbox is unavailable, the server is not started.
    #[serde(default, skip_serializing_if = "McpSandbox::is_off")]
    pub sandbox: McpSandbox,
    /// If true, it can use the network in its sandbox.
    #[serde(default = "yes")]
    pub network: bool,
    /// Enables the server.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// The timeout of a request, in milliseconds, from 1 to 3600000 (an hour).
    #[serde(default = "minute")]
    #[schemars(range(min = 1, max = 3_600_000))]
    pub timeout_ms: u64,
    /// The maximum size of one message from it, in bytes, from 1024 to 1073741824 (1 GiB). A longer response fails its call.
    #[serde(default = "max_message_bytes", skip_serializing_if = "is_max_message_bytes")]
    #[schemars(range(min = 1024, max = 1_073_741_824))]
    pub max_message_bytes: usize,
}

/// The sandbox of a server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum McpSandbox {
    /// No sandbox.
    #[default]
    Off,
    /// It can write only to its own directory for temporary files.
    ReadOnly,
    /// It can write only to the workspace and that directory.
    WorkspaceWrite,
}

impl McpSandbox {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
    fn is_off(&self) -> bool {
        *self == Self::Off
    }
}

/// A server at a URL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct McpUrl {
    /// Its URL, `https://…` or `http://…`.
    #[schemars(regex(pattern = r"^(https?://|\$\{env:)"))]
    pub url: String,
    /// Its transport. Default: streamable HTTP, else HTTP with SSE if the server does not support it.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub transport: Option<McpTransport>,
    /// Headers to send with each request, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, Secret>,
    /// OAuth, used if the server requires authorization. An `Authorization` header disables it.
    #[serde(default, skip_serializing_if = "McpOAuth::is_default")]
    pub oauth: McpOAuth,
    /// Enables the server.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// The timeout of a request, in milliseconds, from 1 to 3600000 (an hour).
    #[serde(default = "minute")]
    #[schemars(range(min = 1, max = 3_600_000))]
    pub timeout_ms: u64,
    /// The maximum size of one message from it, in bytes, from 1024 to 1073741824 (1 GiB). A longer response fails its call.
    #[serde(default = "max_message_bytes", skip_serializing_if = "is_max_message_bytes")]
    #[schemars(range(min = 1024, max = 1_073_741_824))]
    pub max_message_bytes: usize,
}

/// The transport of a server at a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum McpTransport {
    /// Streamable HTTP, of protocol version 2025-03-26 and later.
    Http,
    /// HTTP with SSE, of protocol version 2024-11-05.
    Sse,
}

/// OAuth 2.1 for a server at a URL. Unset keys are discovered from the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[non_exhaustive]
pub struct McpOAuth {
    /// Enables OAuth.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub enabled: bool,
    /// The grant: a person signs in, or this program by itself.
    #[serde(default, skip_serializing_if = "McpGrant::is_default")]
    pub grant: McpGrant,
    /// The client id of this program. Default: it registers itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub client_id: Option<String>,
    /// The client secret for `clientId`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<Secret>,
    /// The `issuer` of the authorization server. Any other that the server names is refused and gets neither tokens nor the secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub issuer: Option<String>,
    /// The URL of this program's client metadata document, used as client id by servers that support it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^https://"))]
    pub client_metadata_url: Option<String>,
    /// The scopes to request. Default: those that the server says are needed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
    /// The local port of the redirect URI, if the server accepts only one. Default: any free port.
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

/// The OAuth grant for a server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum McpGrant {
    /// A person signs in, in a browser.
    #[default]
    AuthorizationCode,
    /// This program signs in, by `clientId` and `clientSecret`.
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

/// A disabled server.
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
    /// The reason, with the location in the configuration.
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
    /// Returns true if the server is used.
    pub fn enabled(&self) -> bool {
        match self {
            Self::Command(server) => server.enabled,
            Self::Url(server) => server.enabled,
            Self::Off(_) => false,
            Self::Unavailable(_) => true,
        }
    }

    /// Returns how long an answer may take, in milliseconds.
    pub fn timeout_ms(&self) -> u64 {
        match self {
            Self::Command(server) => server.timeout_ms,
            Self::Url(server) => server.timeout_ms,
            Self::Off(_) | Self::Unavailable(_) => minute(),
        }
    }
}
