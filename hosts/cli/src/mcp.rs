//! `mcp`: the tools for clients of the Model Context Protocol, and tools of its servers.

mod clients;
mod edit;
mod install;
mod installed;
mod serve;
mod servers;
mod sign_in;
mod token;

use crate::console::Console;
use crate::exit::{Exit, Stop};
use crate::format::Format;
use crate::matched::text;
use clap::{ArgMatches, Command};
use std::collections::BTreeMap;
use std::path::Path;
use tokio::runtime::Runtime;
use toolkit::{
    Builder, Caller, Toolkit,
    config::{Configuration, LoadOptions},
    registry::Diagnostic,
    text::escape_line,
};
use toolkit_mcp::{ClientOptions, McpServers};

/// A parsed `mcp` subcommand.
#[derive(Debug, Clone)]
pub(crate) enum McpRequest {
    Serve(serve::ServeRequest),
    Add(servers::AddRequest),
    Remove { name: String },
    List,
    Test { name: Option<String> },
    Install(install::InstallRequest),
    Login(sign_in::LoginRequest),
    Logout { name: String },
    Token(token::TokenRequest),
}

impl McpRequest {
    /// Returns the value that overrides `tools.profile`.
    pub(crate) fn profile(&self) -> Option<&str> {
        match self {
            Self::Serve(request) => request.profile.as_deref(),
            _ => None,
        }
    }

    /// Returns true if the subcommand needs the tools.
    pub(crate) fn needs_toolkit(&self) -> bool {
        matches!(self, Self::Serve(_) | Self::Test { .. })
    }
}

pub(crate) fn command() -> Command {
    Command::new("mcp")
        .about("Serves the tools over MCP, and manages the MCP servers to import tools from")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(serve::command())
        .subcommands(servers::commands())
        .subcommands(sign_in::commands())
        .subcommands(install::commands())
        .subcommand(token::command())
}

pub(crate) fn request(matches: &mut ArgMatches) -> Result<McpRequest, Stop> {
    let Some((name, mut matches)) = matches.remove_subcommand() else {
        return Err(Stop::usage("a subcommand is missing; `mcp --help` lists them"));
    };
    let server = |matches: &mut ArgMatches| text(matches, "name").unwrap_or_default();
    Ok(match name.as_str() {
        "add" => McpRequest::Add(servers::add_request(&mut matches)?),
        "remove" => McpRequest::Remove { name: server(&mut matches) },
        "list" => McpRequest::List,
        "test" => McpRequest::Test { name: text(&mut matches, "name") },
        "login" => McpRequest::Login(sign_in::request(&mut matches)),
        "logout" => McpRequest::Logout { name: server(&mut matches) },
        "token" => McpRequest::Token(token::request(&mut matches)?),
        "install" => McpRequest::Install(install::install_request(&mut matches)),
        "uninstall" => McpRequest::Install(install::uninstall_request(&mut matches)),
        _ => McpRequest::Serve(serve::request(&mut matches)),
    })
}

/// Runs a subcommand that needs no tools.
pub(crate) fn run_without_tools(
    request: &McpRequest,
    load: &LoadOptions,
    caller: &Caller,
    format: Format,
    console: &mut Console<'_>,
) -> Result<Exit, Stop> {
    match request {
        McpRequest::Add(request) => servers::add(request, load, console),
        McpRequest::Remove { name } => servers::remove(name, load, console),
        McpRequest::Install(request) => install::run(request, caller, load.data_dir_path(), console),
        McpRequest::Login(request) => sign_in::login(request, load, console),
        McpRequest::Logout { name } => sign_in::logout(name, load, console),
        McpRequest::Token(request) => token::run(request, load.data_dir_path(), format, console),
        _ => servers::list(load, format, console),
    }
}

/// Runs a subcommand that needs the tools.
pub(crate) fn run(
    request: McpRequest,
    toolkit: Toolkit,
    servers: &McpServers,
    caller: Caller,
    host: &Host<'_>,
    console: &mut Console<'_>,
) -> Result<Exit, Stop> {
    let exit = match request {
        McpRequest::Serve(request) => {
            serve::run(request, toolkit, caller, servers, host.data_dir, host.runtime, console)
        }
        _ => servers::test(servers, &toolkit, &caller, host.runtime, host.format, console),
    };
    host.runtime.block_on(servers.stop());
    exit
}

/// The environment in which an `mcp` subcommand runs.
pub(crate) struct Host<'a> {
    pub(crate) data_dir: Option<&'a Path>,
    pub(crate) runtime: &'a Runtime,
    pub(crate) format: Format,
}

/// Returns the servers of a configuration, or only that of the called tool if it is known.
pub(crate) fn servers_of(
    configuration: &Configuration,
    caller: &Caller,
    load: &LoadOptions,
    only: Only<'_>,
) -> McpServers {
    let mut options = ClientOptions::new().workspace(caller.workspace_dir());
    if let Some(directory) = load.data_dir_path() {
        options = options.data_dir(directory);
    }
    #[cfg(feature = "agent")]
    {
        options = crate::sampling::with(options, configuration);
    }
    let mut settings = configuration.mcp();
    match only {
        Only::All => McpServers::of(configuration, options),
        Only::Tool(name) => McpServers::of(configuration, options).only_for(name),
        Only::Server(name) => {
            settings.retain(|other, _| other == name);
            McpServers::new(&settings, options)
        }
        Only::None => McpServers::new(&BTreeMap::new(), options),
    }
}

/// Returns the servers that an editor wants connected.
#[cfg(feature = "agent")]
pub(crate) fn servers_of_editor(
    servers: &[toolkit_agent::acp::AcpMcpServer],
    configuration: &Configuration,
    caller: &Caller,
) -> McpServers {
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
    let options = ClientOptions::new().workspace(caller.workspace_dir());
    McpServers::new(&settings.collect(), crate::sampling::with(options, configuration))
}

/// The servers that a command needs.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Only<'a> {
    All,
    Tool(&'a str),
    Server(&'a str),
    None,
}

/// Lets a toolkit have their tools.
pub(crate) fn with(toolkit: Builder, servers: &McpServers) -> Builder {
    if servers.is_empty() { toolkit } else { toolkit.tool_source(servers.clone()) }
}

/// Returns the diagnostics of all servers.
pub(crate) fn noticed(servers: &McpServers) -> Vec<Diagnostic> {
    servers.status().into_iter().flat_map(|status| status.diagnostics).collect()
}

/// Prints which servers are unavailable.
pub(crate) fn note(servers: &McpServers, console: &mut Console<'_>) {
    for status in servers.status() {
        let name = escape_line(&status.name);
        match status.state {
            toolkit_mcp::ServerState::Failed { why } => {
                console.note(&format!("warning: the MCP server `{name}` cannot be reached: {why}"));
            }
            toolkit_mcp::ServerState::Starting => {
                console.note(&format!("warning: the MCP server `{name}` is not there yet"));
            }
            _ => {}
        }
    }
}
