//! The MCP servers of a host.

#[cfg(feature = "agent")]
use std::collections::BTreeMap;
use std::path::Path;
use toolkit::{Builder, Caller, config::Configuration};
use toolkit_mcp::{ClientOptions, McpServerSettings, McpServers};
#[cfg(feature = "agent")]
use toolkit_models::Meter;

/// The MCP servers of the configuration that a host starts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum McpSelection {
    /// All that are not switched off.
    #[default]
    All,
    /// Those that may have the tool of this name.
    OfTool(String),
    /// The server of this name.
    Named(String),
    /// None. The programs of all servers of the configuration stay protected.
    None,
}

/// Returns the selected servers of a configuration.
pub(crate) fn selected(
    configuration: &Configuration,
    caller: &Caller,
    data_dir: Option<&Path>,
    selection: &McpSelection,
    #[cfg(feature = "agent")] meter: &Meter,
) -> McpServers {
    let mut options = options(
        configuration,
        caller,
        #[cfg(feature = "agent")]
        meter,
    );
    if let Some(directory) = data_dir {
        options = options.data_dir(directory);
    }
    let servers = McpServers::of(configuration, options);
    match selection {
        McpSelection::All => servers,
        McpSelection::OfTool(name) => servers.only_for(name),
        McpSelection::Named(name) => servers.only(name),
        McpSelection::None => servers.none(),
    }
}

/// Returns the options of clients, with the default model for servers that ask for one.
pub(crate) fn options(
    configuration: &Configuration,
    caller: &Caller,
    #[cfg(feature = "agent")] meter: &Meter,
) -> ClientOptions {
    let options = ClientOptions::new().workspace(caller.workspace_dir());
    #[cfg(feature = "agent")]
    let options = crate::sampling::with(options, configuration, meter);
    #[cfg(not(feature = "agent"))]
    let _ = configuration;
    options
}

/// Lets a toolkit have their tools, and protect the programs of all servers of the configuration.
pub(crate) fn with(toolkit: Builder, configuration: &Configuration, servers: &McpServers) -> Builder {
    let is_needed = !servers.is_empty() || !McpServerSettings::every(configuration).is_empty();
    if is_needed { toolkit.tool_source(servers.clone()) } else { toolkit }
}

/// Returns the settings of the servers that an editor wants connected, for
/// [`HostBuilder::further_mcp_servers`](crate::HostBuilder::further_mcp_servers).
#[cfg(feature = "agent")]
pub fn servers_of_editor(
    servers: &[toolkit_agent::acp::AcpMcpServer],
) -> BTreeMap<String, McpServerSettings> {
    use toolkit_agent::acp::AcpMcpTransport;
    let object = |pairs: &[(String, String)]| -> serde_json::Map<String, serde_json::Value> {
        pairs.iter().map(|(name, value)| (name.clone(), value.clone().into())).collect()
    };
    let settings = servers.iter().filter_map(|server| {
        let settings = match &server.transport {
            AcpMcpTransport::Stdio { command, args, env } => {
                serde_json::json!({"command": command, "args": args, "env": object(env)})
            }
            AcpMcpTransport::Http { url, headers } => {
                serde_json::json!({"url": url, "type": "http", "headers": object(headers)})
            }
            AcpMcpTransport::Sse { url, headers } => {
                serde_json::json!({"url": url, "type": "sse", "headers": object(headers)})
            }
            _ => return None,
        };
        Some((server.name.clone(), serde_json::from_value(settings).ok()?))
    });
    settings.collect()
}
