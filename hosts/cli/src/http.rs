//! `http`: the tools over HTTP.

use crate::console::Console;
use crate::exit::{Exit, Stop};
use crate::matched::text;
use crate::signals::Watch;
use crate::subcommand::{self, Context, Request, Run, RunAtOnce, Start};
use crate::tokens;
use crate::warnings;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpListener;
use toolkit::CancellationToken;
use toolkit_host::HostBuilder;
#[cfg(feature = "mcp")]
use toolkit_host::McpSelection;
use toolkit_web::{Asking, Tokens, Web, WebOptions};

/// The address that is served without another one.
const ADDRESS: &str = "127.0.0.1:4180";

/// Arguments of `http`.
#[derive(Debug, Clone)]
struct HttpRequest {
    address: SocketAddr,
    hosts: Vec<String>,
    origins: Vec<String>,
    /// Counts as `tools.profile`.
    profile: Option<String>,
    asks: bool,
    is_behind_proxy: bool,
    session_idle: Option<Duration>,
}

/// The subcommand.
pub(crate) fn command() -> Command {
    let several = |name: &'static str, long: &'static str, value: &'static str| {
        Arg::new(name).long(long).value_name(value).action(ArgAction::Append)
    };
    Command::new("http")
        .about("Serves the tools over HTTP, with a description in OpenAPI")
        .long_about(
            "Serves the tools over HTTP to any number of clients that have the token: /v1/tools lists them, /v1/tools/NAME/call calls one, and /v1/openapi.json describes all.\n\nAn action that needs approval is denied, unless --asks lets the client that made the call answer at /v1/asks.",
        )
        .args_conflicts_with_subcommands(true)
        .arg(
            Arg::new("address")
                .value_name("ADDRESS")
                .value_parser(value_parser!(SocketAddr))
                .default_value(ADDRESS)
                .help("The address to serve; port 0 selects a free one. `http token add` creates a token for one client"),
        )
        .arg(
            Arg::new("asks")
                .long("asks")
                .action(ArgAction::SetTrue)
                .help("Lets the client that made a call answer its questions, for its session at most"),
        )
        .arg(
            several("host", "allow-host", "HOST")
                .help("A further host name that clients may use, besides those of this machine"),
        )
        .arg(
            several("origin", "allow-origin", "ORIGIN")
                .help("An origin of web pages that may call it, such as https://example.org:443"),
        )
        .arg(
            Arg::new("behind-proxy")
                .long("behind-proxy")
                .action(ArgAction::SetTrue)
                .help("States that a proxy does TLS, so that an address that other machines reach may be served"),
        )
        .arg(
            Arg::new("session-idle")
                .long("session-idle")
                .value_name("SECONDS")
                .value_parser(value_parser!(u64).range(1..))
                .help("Ends a client's session, with its keyed calls and stored files, after this time without a request, a running call or a background job [default: 86400]"),
        )
        .arg(
            Arg::new("profile")
                .long("profile")
                .value_name("PROFILE")
                .help("The tool profile, same as --set tools.profile=PROFILE"),
        )
        .subcommand(tokens::command(tokens::HTTP))
}

/// Returns the request in the matches.
pub(crate) fn request(matches: &mut ArgMatches) -> Result<Request, Stop> {
    if let Some((_, mut matches)) = matches.remove_subcommand() {
        let request = tokens::request(&mut matches, tokens::HTTP)?;
        return Ok(subcommand::at_once(ManageTokens(request)));
    }
    let Some(address) = matches.remove_one("address") else {
        return Err(Stop::usage("an address is missing; `http --help` shows the usage"));
    };
    let mut all = |id: &str| matches.remove_many::<String>(id).into_iter().flatten().collect();
    let (hosts, origins) = (all("host"), all("origin"));
    Ok(subcommand::run(HttpRequest {
        address,
        hosts,
        origins,
        asks: matches.get_flag("asks"),
        is_behind_proxy: matches.get_flag("behind-proxy"),
        session_idle: matches.remove_one("session-idle").map(Duration::from_secs),
        profile: text(matches, "profile"),
    }))
}

/// A parsed `http token` subcommand.
#[derive(Debug)]
struct ManageTokens(tokens::TokenRequest);

impl RunAtOnce for ManageTokens {
    fn run(&self, start: Start<'_>, console: &mut Console<'_>) -> Result<Exit, Stop> {
        tokens::run(&self.0, start.load.data_dir_path(), start.format, console)
    }
}

impl Run for HttpRequest {
    fn run(&self, context: &Context<'_>, console: &mut Console<'_>) -> Result<Exit, Stop> {
        serve(self.clone(), context, console)
    }

    fn prepare(&self, host: HostBuilder) -> HostBuilder {
        host.history(true).background_tasks(true)
    }

    fn profile(&self) -> Option<&str> {
        self.profile.as_deref()
    }

    #[cfg(feature = "mcp")]
    fn servers(&self) -> McpSelection {
        McpSelection::All
    }
}

/// Serves until an interrupt.
fn serve(request: HttpRequest, context: &Context<'_>, console: &mut Console<'_>) -> Result<Exit, Stop> {
    let &Context { host, runtime, .. } = context;
    let HttpRequest { address, hosts, origins, asks, is_behind_proxy, session_idle, .. } = request;
    let cancel = CancellationToken::new();
    let watch = Watch::start(cancel.clone())?;
    let _printing = warnings::print();
    // Each client has a session of its own.
    let mut caller = host.caller().clone();
    caller.session_id = None;
    let mut options = WebOptions::new()
        .caller(caller)
        .asking(if asks { Asking::Served } else { Asking::Off })
        .allow_hosts(hosts)
        .allow_origins(origins)
        .behind_proxy(is_behind_proxy)
        .shutdown(cancel);
    if !address.ip().is_loopback() && !address.ip().is_unspecified() {
        options = options.allow_hosts([address.ip().to_string()]);
    }
    options.idle = session_idle.unwrap_or(options.idle);
    let token = tokens::of(tokens::HTTP, host.data_dir())?;
    let tokens = Tokens::of_file(&token.path).clients(tokens::clients(tokens::HTTP, host.data_dir())?);
    let web = Web::new(host.toolkit().clone(), options);
    runtime.block_on(async {
        let unusable = |error| Stop::cannot_start(format!("cannot listen on {address}: {error}"));
        let listener = TcpListener::bind(address).await.map_err(unusable)?;
        let address = listener.local_addr().map_err(unusable)?;
        if !address.ip().is_loopback() && !is_behind_proxy {
            return Err(Stop::cannot_start(format!(
                "{address} is reached from other machines, and this server does not encrypt: serve 127.0.0.1, or state with --behind-proxy that a proxy does TLS"
            )));
        }
        console.note(&format!("serving at http://{address}/v1/tools"));
        console.note(&tokens::notice(&token));
        console.note("clients share this token, and with it a session; `toolkit http token add NAME` creates a token whose client has its own");
        web.serve(tokens, listener).await.map_err(|error| Stop::failed(error.to_string()))
    })?;
    Ok(watch.call_ended().map_or(Exit::Success, |_| Exit::Success))
}
