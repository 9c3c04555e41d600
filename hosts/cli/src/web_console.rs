//! `console`: the web console over the tools.

use crate::console::Console;
use crate::exit::{Exit, Stop};
use crate::matched::text;
use crate::signals::Watch;
use crate::subcommand::{self, Context, Request, Run};
use crate::warnings;
use clap::{Arg, ArgMatches, Command, value_parser};
use std::io::{IsTerminal as _, stdin};
use std::net::SocketAddr;
use std::path::Path;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use toolkit::CancellationToken;
use toolkit_host::HostBuilder;
#[cfg(feature = "mcp")]
use toolkit_host::McpSelection;
use toolkit_web::{Asking, Web, WebOptions};

/// The address that is served without another one.
const ADDRESS: &str = "127.0.0.1:4190";

/// Arguments of `console`.
#[derive(Debug, Clone)]
struct ConsoleRequest {
    address: SocketAddr,
    /// Counts as `tools.profile`.
    profile: Option<String>,
}

/// The subcommand.
pub(crate) fn command() -> Command {
    Command::new("console")
        .about("Serves a page to see, fill in and run the tools in a browser")
        .long_about(
            "Serves a page on this machine that lists the tools, makes a form of their arguments, runs them and answers their questions.\n\nThe printed address has a code that is valid once, for a minute. Enter prints another one.",
        )
        .arg(
            Arg::new("address")
                .value_name("ADDRESS")
                .value_parser(value_parser!(SocketAddr))
                .default_value(ADDRESS)
                .help("The address to serve, of this machine alone; port 0 selects a free one"),
        )
        .arg(
            Arg::new("profile")
                .long("profile")
                .value_name("PROFILE")
                .help("The tool profile, same as --set tools.profile=PROFILE"),
        )
}

/// Returns the request in the matches.
pub(crate) fn request(matches: &mut ArgMatches) -> Result<Request, Stop> {
    let Some(address) = matches.remove_one("address") else {
        return Err(Stop::usage("an address is missing; `console --help` shows the usage"));
    };
    Ok(subcommand::run(ConsoleRequest { address, profile: text(matches, "profile") }))
}

impl Run for ConsoleRequest {
    fn run(&self, context: &Context<'_>, console: &mut Console<'_>) -> Result<Exit, Stop> {
        serve(self.address, context, console)
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
fn serve(address: SocketAddr, context: &Context<'_>, console: &mut Console<'_>) -> Result<Exit, Stop> {
    let &Context { host, runtime, .. } = context;
    if !address.ip().is_loopback() {
        return Err(Stop::cannot_start(format!(
            "{address} is reached from other machines, and the console does not encrypt: serve 127.0.0.1, and reach it with `ssh -L`"
        )));
    }
    let cancel = CancellationToken::new();
    let watch = Watch::start(cancel.clone())?;
    let _printing = warnings::print();
    // Each client has a session of its own.
    let mut caller = host.caller().clone();
    caller.session_id = None;
    let mut options = WebOptions::new().caller(caller).asking(Asking::Served).shutdown(cancel);
    options.is_owner = true;
    options.history = host.data_dir().map(Path::to_owned);
    let no_random = |error| Stop::failed(format!("the system gives no random numbers: {error}"));
    let page = toolkit_web::Console::with(Web::new(host.toolkit().clone(), options)).map_err(no_random)?;
    runtime.block_on(async {
        let unusable = |error| Stop::cannot_start(format!("cannot listen on {address}: {error}"));
        let listener = TcpListener::bind(address).await.map_err(unusable)?;
        let address = listener.local_addr().map_err(unusable)?;
        console.note(&format!("open {} within a minute", page.open(address).map_err(no_random)?));
        let mut entered = if stdin().is_terminal() {
            console.note("Enter prints another address, for another browser");
            lines()
        } else {
            mpsc::channel(1).1
        };
        let serving = page.serve(listener);
        tokio::pin!(serving);
        loop {
            tokio::select! {
                served = &mut serving => return served.map_err(|error| Stop::failed(error.to_string())),
                Some(()) = entered.recv() => {
                    console.note(&format!("open {} within a minute", page.open(address).map_err(no_random)?));
                }
            }
        }
    })?;
    Ok(watch.call_ended().map_or(Exit::Success, |_| Exit::Success))
}

/// Hears of the lines that are entered.
fn lines() -> mpsc::Receiver<()> {
    let (entered, lines) = mpsc::channel(1);
    // Its read cannot be ended: the thread ends with the process.
    std::thread::spawn(move || {
        for _ in stdin().lines().map_while(Result::ok) {
            if entered.blocking_send(()).is_err() {
                return;
            }
        }
    });
    lines
}
