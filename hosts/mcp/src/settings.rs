//! The section `mcp` of the configuration: the servers whose tools a host brings in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use toolkit::config::{ConfigEntries, ConfigSection, ConfigVariant, Configuration, Secret};

/// The path of the section.
const SECTION: &str = "mcp";

/// MCP servers, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
struct Servers(BTreeMap<String, McpServerSettings>);

toolkit::config_section!(
    ConfigSection::at::<Servers>(SECTION).also_known_as(&["mcpServers", "mcp_servers", "servers"]).entries(
        ConfigEntries::new().also_under("servers").servers().variants(&[
            ConfigVariant::new::<McpCommand>(
                "a command",
                "command",
                &["command", "args", "env", "cwd", "sandbox", "network"],
            ),
            ConfigVariant::new::<McpUrl>("an address", "url", &["url", "headers", "oauth"]),
        ])
    )
);

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
    /// Returns the servers of a configuration that are not switched off, by name. A server that refers to something missing, such as an
    /// environment variable, is [unavailable](Self::Unavailable), with the reason.
    pub fn of(configuration: &Configuration) -> BTreeMap<String, Self> {
        let mut servers = Self::every(configuration);
        servers.retain(|_, server| server.enabled());
        servers
    }

    /// Returns the servers of a configuration as [`of`](Self::of) does, with those that are switched off.
    pub fn every(configuration: &Configuration) -> BTreeMap<String, Self> {
        let (Servers(mut servers), unavailable) = match configuration.section_members(SECTION) {
            Ok(read) => read,
            Err(error) => {
                // Loading has checked that the section can be read: a program that loads it without this crate has not.
                tracing::error!(target: "toolkit", %error, "no MCP server can be used: the section `mcp` cannot be read");
                return BTreeMap::new();
            }
        };
        let unavailable = unavailable.into_iter();
        servers
            .extend(unavailable.map(|(name, reason)| (name, Self::Unavailable(McpUnavailable { reason }))));
        servers
    }

    /// Returns the names of the servers of a configuration that are switched off (`enabled: false`).
    pub fn switched_off(configuration: &Configuration) -> Vec<String> {
        let servers = Self::every(configuration).into_iter();
        servers.filter(|(_, server)| !server.enabled()).map(|(name, _)| name).collect()
    }

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
