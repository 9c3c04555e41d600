//! `mcp serve`: the tools for clients of the Model Context Protocol.

use crate::console::Console;
use crate::exit::{Exit, Stop};
use crate::matched::text;
use crate::signals::Watch;
use crate::subcommand::{Context, Run};
use crate::tokens;
use crate::warnings;
use clap::{Arg, ArgMatches, Command, value_parser};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpListener;
use toolkit::CancellationToken;
use toolkit_host::{HostBuilder, McpSelection};
use toolkit_mcp::{Bearer, HttpOptions, HttpService, ServerOptions, serve_http, serve_stdio_with};

/// Arguments of `mcp serve`.
#[derive(Debug, Clone)]
pub(super) struct ServeRequest {
    http: Option<SocketAddr>,
    hosts: Vec<String>,
    origins: Vec<String>,
    /// Counts as `tools.profile`.
    profile: Option<String>,
    client_approves: bool,
    session_idle: Option<Duration>,
}

pub(super) fn command() -> Command {
    Command::new("serve")
        .about("Serves the tools over stdio or HTTP")
        .long_about(
            "Serves the tools over stdio to one client, or, with --http, to any number of clients that have the token.\n\nApproval prompts go to the client, which shows them to its user. If the client cannot show prompts, tools whose every call needs approval are not listed; allow them in the configuration or with --client-approves.",
        )
        .arg(
            Arg::new("http")
                .long("http")
                .value_name("ADDRESS")
                .value_parser(value_parser!(SocketAddr))
                .help("The address to serve HTTP on, such as 127.0.0.1:8808, at /mcp; port 0 selects a free one. `mcp token add` creates a token for one client"),
        )
        .arg(
            Arg::new("host")
                .long("allow-host")
                .value_name("HOST")
                .action(clap::ArgAction::Append)
                .requires("http")
                .help("A further host name that clients may use, besides those of this machine"),
        )
        .arg(
            Arg::new("origin")
                .long("allow-origin")
                .value_name("ORIGIN")
                .action(clap::ArgAction::Append)
                .requires("http")
                .help("An origin of web pages that may call it, such as https://example.org:443"),
        )
        .arg(
            Arg::new("session-idle")
                .long("session-idle")
                .value_name("SECONDS")
                .value_parser(value_parser!(u64).range(1..))
                .requires("http")
                .help("Ends a session after this time without a request, a running call or an open stream, and a principal's background jobs after this time without a session [default: 1800]"),
        )
        .arg(
            Arg::new("profile")
                .long("profile")
                .value_name("PROFILE")
                .help("The tool profile, same as --set tools.profile=PROFILE"),
        )
        .arg(
            Arg::new("client-approves")
                .long("client-approves")
                .action(clap::ArgAction::SetTrue)
                .help(
                    "Relies on the client's own approval of tool calls: actions that need approval are allowed. Denied actions stay denied, and sensitive and protected paths still need approval",
                ),
        )
}

pub(super) fn request(matches: &mut ArgMatches) -> ServeRequest {
    let mut all = |id: &str| matches.remove_many::<String>(id).into_iter().flatten().collect();
    let (hosts, origins) = (all("host"), all("origin"));
    let client_approves = matches.get_flag("client-approves");
    let (http, profile) = (matches.remove_one("http"), text(matches, "profile"));
    let session_idle = matches.remove_one("session-idle").map(Duration::from_secs);
    ServeRequest { http, hosts, origins, profile, client_approves, session_idle }
}

impl Run for ServeRequest {
    fn run(&self, context: &Context<'_>, console: &mut Console<'_>) -> Result<Exit, Stop> {
        run(self.clone(), context, console)
    }

    fn prepare(&self, host: HostBuilder) -> HostBuilder {
        host.history(true).background_tasks(true)
    }

    fn profile(&self) -> Option<&str> {
        self.profile.as_deref()
    }

    fn servers(&self) -> McpSelection {
        McpSelection::All
    }
}

/// Serves until the client disconnects, or until an interrupt.
fn run(request: ServeRequest, context: &Context<'_>, console: &mut Console<'_>) -> Result<Exit, Stop> {
    let &Context { host, runtime, .. } = context;
    let (toolkit, caller, data_dir) = (host.toolkit().clone(), host.caller().clone(), host.data_dir());
    let cancel = CancellationToken::new();
    let watch = Watch::start(cancel.clone())?;
    let _printing = warnings::print();
    let server = ServerOptions::new()
        .named("toolkit", env!("CARGO_PKG_VERSION"))
        .client_approves(request.client_approves)
        .shutdown(cancel.clone())
        .prompts_of(host.mcp_servers().clone());
    match request.http {
        None => {
            let ended = runtime.block_on(serve_stdio_with(toolkit, caller, server));
            ended.map_err(|error| Stop::failed(error.to_string()))?;
        }
        Some(address) => {
            let mut options = HttpOptions::new().allow_hosts(request.hosts).allow_origins(request.origins);
            if !address.ip().is_loopback() && !address.ip().is_unspecified() {
                options = options.allow_hosts([address.ip().to_string()]);
            }
            options.server = server;
            options.shutdown = cancel.clone();
            options.idle = request.session_idle.unwrap_or(options.idle);
            let token = tokens::of(tokens::MCP, data_dir)?;
            let origins = options.allowed_origins.clone();
            let service = Bearer::of_file(HttpService::new(toolkit, caller, options), &token.path)
                .clients(tokens::clients(tokens::MCP, data_dir)?);
            let service = toolkit_mcp::cors(service, origins);
            runtime.block_on(async {
                let unusable =
                    |error| Stop::cannot_start(format!("cannot listen on {address}: {error}"));
                let listener = TcpListener::bind(address).await.map_err(unusable)?;
                let address = listener.local_addr().map_err(unusable)?;
                console.note(&format!("serving at http://{address}/mcp"));
                console.note(&tokens::notice(&token));
                console.note(
                    "clients share this token, so their background commands end with their session, or with their connection under protocol \
                     2026-07-28; `toolkit mcp token add NAME` creates a token whose background commands last",
                );
                serve_http(listener, toolkit_mcp::at_path("/mcp", service), cancel)
                    .await
                    .map_err(|error| Stop::failed(format!("serving ended: {error}")))
            })?;
        }
    }
    Ok(watch.call_ended().map_or(Exit::Success, |_| Exit::Success))
}
