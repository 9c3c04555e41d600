//! A section of entries, like that of MCP servers, which a host declares.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use toolkit::config::{ConfigEntries, ConfigSection, ConfigVariant, Configuration, LoadOptions, Secret};

/// A server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(untagged)]
pub(crate) enum Server {
    /// A command.
    Command(ServerCommand),
    /// An address.
    Url(ServerUrl),
    /// Switches off a server of another source.
    Off(ServerOff),
}

/// A command.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ServerCommand {
    /// The program.
    #[schemars(length(min = 1))]
    command: String,
    /// Its arguments.
    #[serde(default)]
    args: Vec<String>,
    /// Its variables.
    #[serde(default)]
    pub(crate) env: BTreeMap<String, Secret>,
    /// Its directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cwd: Option<String>,
    /// Switches it on.
    #[serde(default = "yes")]
    enabled: bool,
    /// The most time of a request.
    #[serde(default = "minute")]
    #[schemars(range(min = 1))]
    timeout_ms: u64,
}

/// An address.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct ServerUrl {
    /// The address.
    #[schemars(regex(pattern = r"^(https?://|\$\{env:)"))]
    pub(crate) url: String,
    /// The headers.
    #[serde(default)]
    headers: BTreeMap<String, Secret>,
    /// Switches it on.
    #[serde(default = "yes")]
    enabled: bool,
    /// The most time of a request.
    #[serde(default = "minute")]
    #[schemars(range(min = 1))]
    timeout_ms: u64,
}

/// Nothing but that it is off.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ServerOff {
    /// `false`.
    #[schemars(extend("enum" = [false]))]
    enabled: bool,
}

fn yes() -> bool {
    true
}

fn minute() -> u64 {
    60_000
}

/// Servers, by name.
#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(transparent)]
struct Servers(BTreeMap<String, Server>);

toolkit::config_section!(ConfigSection::at::<Servers>("mcp").entries(
    ConfigEntries::new().also_under("servers").servers().variants(&[
        ConfigVariant::new::<ServerCommand>("a command", "command", &["command", "args", "env", "cwd"]),
        ConfigVariant::new::<ServerUrl>("an address", "url", &["url", "headers"]),
    ])
));

/// The servers, with the reasons why some cannot be used.
pub(crate) fn every(configuration: &Configuration) -> BTreeMap<String, Result<Server, String>> {
    let (Servers(servers), unavailable) = configuration.section_members("mcp").unwrap();
    let servers = servers.into_iter().map(|(name, server)| (name, Ok(server)));
    servers.chain(unavailable.into_iter().map(|(name, reason)| (name, Err(reason)))).collect()
}

/// The servers that are not switched off.
pub(crate) fn used(configuration: &Configuration) -> BTreeMap<String, Result<Server, String>> {
    let is_used = |server: &Result<Server, String>| match server {
        Ok(Server::Command(server)) => server.enabled,
        Ok(Server::Url(server)) => server.enabled,
        Ok(Server::Off(_)) => false,
        Err(_) => true,
    };
    let mut servers = every(configuration);
    servers.retain(|_, server| is_used(server));
    servers
}

/// A switched-off entry may name a file or a variable that is not there, and can be read nevertheless.
#[test]
fn an_entry_that_is_switched_off_needs_no_secret() {
    let off =
        "{ url: 'https://x', headers: { Key: { file: 'none.txt' }, Other: '${env:NO}' }, enabled: false }";
    let configuration = Configuration::load(LoadOptions::new().set(format!("mcp.far={off}"))).unwrap();
    let servers = every(&configuration);
    let Ok(Server::Url(far)) = &servers["far"] else { panic!("{servers:?}") };
    assert_eq!((&*far.url, far.enabled), ("https://x", false));
    assert!(used(&configuration).is_empty());
    assert_eq!(configuration.notes(), [""; 0]);
}

#[test]
fn a_whole_number_of_an_entry_may_be_written_with_a_point() {
    let set = "mcp.near={ command: 'x', timeoutMs: 2.0 }";
    let configuration = Configuration::load(LoadOptions::new().set(set)).unwrap();
    let servers = every(&configuration);
    let Ok(Server::Command(near)) = &servers["near"] else { panic!("{servers:?}") };
    assert_eq!(near.timeout_ms, 2);
    assert!(
        Configuration::load(LoadOptions::new().set("mcp.near={ command: 'x', timeoutMs: 2.5 }")).is_err()
    );
}

#[test]
fn a_map_of_entries_is_one_key_of_the_configuration() {
    let section =
        ConfigSection::at::<BTreeMap<String, Server>>("tools.servers").entries(ConfigEntries::new());
    let error = Configuration::load(LoadOptions::new().section(section)).unwrap_err().to_string();
    assert!(error.contains("a map of entries is one key of the configuration"), "{error}");
}
