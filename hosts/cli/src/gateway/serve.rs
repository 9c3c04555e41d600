//! `gateway`: runs until it is stopped.

use super::log;
use super::reach::data_dir;
use crate::console::Console;
use crate::exit::{Exit, Stop};
use crate::runtime;
use crate::signals::Watch;
use crate::subcommand::Start;
use clap::{Arg, ArgMatches, Command, value_parser};
use std::net::SocketAddr;
use std::time::Duration;
use toolkit::{Caller, CancellationToken};
use toolkit_gateway::{Gateway, GatewayError, GatewayOptions};
use toolkit_host::Host;

/// The seconds that runs have to end, unless `--drain` says another number.
const DRAIN: &str = "30";

/// Arguments of `gateway`.
#[derive(Debug, Clone)]
pub(crate) struct ServeRequest {
    address: Option<SocketAddr>,
    drain: Duration,
}

pub(super) fn arguments(command: Command) -> Command {
    command
        .arg(
            Arg::new("address")
                .long("address")
                .value_name("HOST:PORT")
                .value_parser(value_parser!(SocketAddr))
                .help("The address to listen on, in place of the configured one [default: 127.0.0.1:4170]; port 0 selects a free one"),
        )
        .arg(
            Arg::new("drain")
                .long("drain")
                .value_name("SECONDS")
                .value_parser(value_parser!(u64).range(..=86_400))
                .default_value(DRAIN)
                .help("Time for runs under way to end when it stops; those that do not go on at the next start"),
        )
        .args_conflicts_with_subcommands(true)
}

pub(super) fn request(matches: &mut ArgMatches) -> ServeRequest {
    let drain = matches.remove_one("drain").unwrap_or_default();
    ServeRequest { address: matches.remove_one("address"), drain: Duration::from_secs(drain) }
}

/// Runs until Ctrl-C, SIGTERM, or a request to stop.
pub(super) fn run(request: &ServeRequest, start: Start<'_>, console: &mut Console<'_>) -> Result<Exit, Stop> {
    let data_dir = data_dir(&start)?.to_owned();
    // The directory in which it was started has no say.
    let workspace = Gateway::workspaces(&data_dir);
    let load = start.load.workspace(&workspace);
    let stop = CancellationToken::new();
    let watch = Watch::start(stop.clone())?;
    let _logging = log::write(&data_dir);
    let runtime = runtime::new()?;
    let toolkit = start.toolkit;
    let host = |load| Host::builder(load).toolkit(toolkit).caller(Caller::new().with_workspace(workspace));
    let options = GatewayOptions::new().address(request.address).version(env!("CARGO_PKG_VERSION"));
    let stopped: Result<bool, Stop> = runtime.block_on(async {
        let gateway = Gateway::start(load, host, options).await.map_err(|error| cannot_start(&error))?;
        let (address, local) = (gateway.address(), gateway.local_address());
        if address == local {
            console.note(&format!("the gateway runs at http://{address}"));
        } else {
            console.note(&format!(
                "the gateway runs at https://{address}, and for commands on this machine at http://{local}"
            ));
        }
        console.note(&format!("the owner's token is in {}", gateway.owner_token_file().display()));
        for problem in &gateway.state().about().problems {
            console.note(&format!("warning: {problem}"));
        }
        console.note("`toolkit chat --gateway` talks with it; `toolkit gateway stop`, or Ctrl-C, stops it");
        tokio::select! {
            () = stop.cancelled() => {}
            () = gateway.stop_asked() => {}
        }
        console.note(&format!("stopping; runs under way have {} s to end", request.drain.as_secs()));
        let restarts = gateway.stop(request.drain).await;
        let restarts = restarts.map_err(|error| Stop::failed(error.to_string()))?;
        // A signal stops it for good, also while runs ended.
        Ok(restarts && !stop.is_cancelled())
    });
    runtime.shutdown_background();
    // It was stopped in order, by whatever signal.
    let signalled = watch.call_ended();
    if stopped? && signalled.is_none() {
        console.note("an agent asked for a restart");
        return Err(start_again());
    }
    Ok(Exit::Success)
}

/// Puts this program, as it is on the disk by now, in the place of this process, with the same arguments. Returns only if that fails.
fn start_again() -> Stop {
    let failed = |error: &dyn std::fmt::Display| {
        Stop::failed(format!("the gateway stopped, and cannot start again: {error}"))
    };
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(error) => return failed(&error),
    };
    let mut command = std::process::Command::new(program);
    command.args(std::env::args_os().skip(1));
    #[cfg(unix)]
    let error = std::os::unix::process::CommandExt::exec(&mut command);
    #[cfg(not(unix))]
    let error = match command.status() {
        Ok(ended) => {
            return if ended.success() { Stop::failed("it ended") } else { Stop::failed(ended.to_string()) };
        }
        Err(error) => error,
    };
    failed(&error)
}

fn cannot_start(error: &GatewayError) -> Stop {
    let exit = if error.is_of_configuration() { Exit::Configuration } else { Exit::CannotStart };
    Stop::Error { exit, message: error.to_string() }
}
