//! The sections `gateway`, `sessions` and `budgets` of the configuration.

mod budgets;
mod people;

pub use budgets::{BudgetSettings, PeriodLimits, UsageLimits};
pub use people::{PeopleSettings, PersonRole, PersonSettings};

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use toolkit::config::{ConfigSection, Configuration};

/// The process in which agents live (`/gateway`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct GatewaySettings {
    /// The address that it listens on, such as `127.0.0.1:4170`; port 0 selects a free one. An address that other machines reach needs
    /// `tls` or `behindProxy`. Default: `127.0.0.1:4170`.
    pub address: SocketAddr,
    /// The certificate and the key with which it speaks TLS. Programs of this machine have an address without TLS beside it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls: Option<TlsFiles>,
    /// States that a proxy in front of it does TLS, so that an address other than one of this machine may be used.
    pub behind_proxy: bool,
    /// IP addresses of the proxies whose header `X-Forwarded-For` says where a request came from. Of all others it is ignored.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub proxies: Vec<IpAddr>,
    /// Further host names that clients may use, besides those of this machine.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    /// Origins of web pages that may call it, such as `https://example.org`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub origins: Vec<String>,
    /// The agent that people talk to who have no other. Default: `main`.
    pub agent: String,
    /// Groups of chat channels in which the gateway takes part, by `CHANNEL:GROUP` with the platform's id of the group, such as
    /// `telegram:-1001234567890`. In all others it is silent.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub groups: BTreeMap<String, GroupSettings>,
    /// Further tools that people other than the owner may use, beside those of the groups `agent`, `automation`, `discovery`, `media`, `sessions`,
    /// `ui` and `web`, and those of their own clients: builtin groups or tools by their names, such as `fs`, `runtime`, `memory` and `nodes`, `mcp`
    /// for the tools of MCP servers, `plugins` for those of all plugins and channels, or the name of a plugin or channel.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub others_may_use: Vec<String>,
    /// If true, commands may run without a sandbox, as `tools.exec` says. By default none does: the sandbox hides the data directory, in which
    /// the owner's token and the conversations of all people are.
    pub uncontained_commands: bool,
    /// If true, an agent in a session of the owner may restart the gateway by the tool `gateway`.
    pub agents_may_restart: bool,
}

/// A group of a chat channel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct GroupSettings {
    /// The agent that answers. Default: `gateway.agent`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// If true, it hears the messages that name the account or reply to it, and no others.
    pub mention: bool,
}

impl Default for GroupSettings {
    fn default() -> Self {
        Self { agent: None, mention: true }
    }
}

/// The files of TLS.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TlsFiles {
    /// The absolute path of the chain of certificates in PEM, the gateway's own one first. A replaced file is used within seconds.
    pub certificate: PathBuf,
    /// The absolute path of the private key in PEM.
    pub key: PathBuf,
}

impl Default for GatewaySettings {
    fn default() -> Self {
        Self {
            address: SocketAddr::from(([127, 0, 0, 1], 4170)),
            tls: None,
            behind_proxy: false,
            proxies: Vec::new(),
            hosts: Vec::new(),
            origins: Vec::new(),
            agent: "main".to_owned(),
            groups: BTreeMap::new(),
            others_may_use: Vec::new(),
            uncontained_commands: false,
            agents_may_restart: false,
        }
    }
}

impl GatewaySettings {
    /// The path of the section.
    pub const SECTION: &str = "gateway";

    /// Returns the settings of a configuration.
    pub fn of(configuration: &Configuration) -> Self {
        // A value that does not fit is an error of loading.
        configuration.section(Self::SECTION).unwrap_or_default()
    }
}

toolkit::config_section!(
    ConfigSection::at::<GatewaySettings>(GatewaySettings::SECTION)
        .lenient()
        .void_because("this program is no gateway")
);

/// The sessions of the gateway (`/sessions`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct SessionSettings {
    /// The maximum number of runs at once, from 1 to 1000. A run that waits for a person is not counted.
    #[schemars(range(min = 1, max = 1_000))]
    pub max_runs: u32,
    /// How often a run goes on after a crash, from 0 to 100.
    #[schemars(range(max = 100))]
    pub max_resumptions: u32,
    /// If true, a message of the sender of the run under way reaches that run, in direct chats.
    pub steer: bool,
    /// The maximum number of messages of people that wait in a session, from 1 to 10000.
    #[schemars(range(min = 1, max = 10_000))]
    pub max_queued: u32,
    /// The maximum number of conversations that are kept open while nothing runs in them, from 0 to 10000.
    #[schemars(range(max = 10_000))]
    pub max_idle: usize,
    /// The sessions that a session of a person other than the owner sees, by the tools of the group `sessions`.
    pub visibility: Scope,
    /// The sessions that a session of the owner sees.
    pub owner_visibility: Scope,
    /// The sessions from which a session takes messages, of those that see it.
    pub accepts: Scope,
    /// If true, sessions send messages to sessions of other people that they see, as those of the owner see all. By default they do not, since an
    /// agent could be misled by a text of one person to send them what belongs to another.
    pub between_people: bool,
    /// Other values for sessions of single agents.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub agents: BTreeMap<String, AgentScopes>,
    /// The maximum number of sub-agents of one session at work, from 0 to 100.
    #[schemars(range(max = 100))]
    pub max_children: u32,
    /// The maximum number of sessions above a sub-agent, from 0 to 10.
    #[schemars(range(max = 10))]
    pub max_depth: u32,
}

/// Which sessions, as seen from one; the least first.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// The session itself.
    #[serde(rename = "self")]
    Own,
    /// That one, and those that stand below it; for messages, those above it, too.
    Tree,
    /// Those, and all sessions of its person with the same agent.
    Agent,
    /// Those, and all sessions of its person; of everybody, for the owner.
    All,
}

/// The scopes of sessions of one agent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[non_exhaustive]
pub struct AgentScopes {
    /// The sessions that they see.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visibility: Option<Scope>,
    /// The sessions from which they take messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepts: Option<Scope>,
}

impl Default for SessionSettings {
    fn default() -> Self {
        Self {
            max_runs: 8,
            max_resumptions: 2,
            steer: true,
            max_queued: 100,
            max_idle: 32,
            visibility: Scope::Tree,
            owner_visibility: Scope::All,
            accepts: Scope::All,
            between_people: false,
            agents: BTreeMap::new(),
            max_children: 8,
            max_depth: 2,
        }
    }
}

impl SessionSettings {
    /// The path of the section.
    pub const SECTION: &str = "sessions";

    /// Returns the settings of a configuration.
    pub fn of(configuration: &Configuration) -> Self {
        configuration.section(Self::SECTION).unwrap_or_default()
    }
}

toolkit::config_section!(
    ConfigSection::at::<SessionSettings>(SessionSettings::SECTION)
        .lenient()
        .void_because("this program is no gateway")
);
