//! `node`: this device as a node of a gateway.

mod pairing;
mod serving;
mod unit;

use crate::console::Console;
use crate::exit::{Exit, Stop};
use crate::subcommand::{RunAtOnce, Start};
use clap::{ArgMatches, Command};
use std::env;
use std::path::PathBuf;
use toolkit_node::{NodeDirectory, NodeError};

/// The variable that names the directory of the node.
const DIRECTORY: &str = "TOOLKIT_NODE_DIR";

/// A parsed `node` subcommand.
#[derive(Debug, Clone)]
pub(crate) enum NodeRequest {
    Pair(pairing::PairRequest),
    Status,
    Run,
    Install,
    Uninstall,
}

pub(crate) fn command() -> Command {
    Command::new("node")
        .about("Lets a gateway use this device: its screen, place, notifications and commands")
        .long_about(
            "Lets a gateway use this device: its screen, place, notifications and commands.\n\n`node pair` asks the gateway for approval, and shows a code; its owner compares the keys and approves it with `gateway nodes approve CODE`. `node run` serves the gateway then, and connects again whenever the connection drops. Commands are off until the configuration of this device has `node.run: true`, and run under its rules.\n\nThe key of the device and that of its gateway are in the directory that `TOOLKIT_NODE_DIR` names; by default, `node` in the data directory.",
        )
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(pairing::command())
        .subcommand(Command::new("run").about("Serves the gateway until Ctrl-C or SIGTERM; exit code 78 if this device was revoked, or the gateway has another key"))
        .subcommand(Command::new("status").about("Shows the gateway of this device, its keys, and what it serves"))
        .subcommands(unit::commands())
}

pub(crate) fn request(matches: &mut ArgMatches) -> Result<NodeRequest, Stop> {
    let Some((name, mut matches)) = matches.remove_subcommand() else {
        return Err(Stop::usage("a subcommand is missing; `node --help` lists them"));
    };
    Ok(match name.as_str() {
        "pair" => NodeRequest::Pair(pairing::request(&mut matches)?),
        "status" => NodeRequest::Status,
        "install" => NodeRequest::Install,
        "uninstall" => NodeRequest::Uninstall,
        _ => NodeRequest::Run,
    })
}

impl RunAtOnce for NodeRequest {
    fn run(&self, start: Start<'_>, console: &mut Console<'_>) -> Result<Exit, Stop> {
        match self {
            Self::Pair(request) => pairing::run(request, &start, console),
            Self::Status => serving::status(start, console),
            Self::Run => serving::run(start, console),
            Self::Install => unit::install(&start, console),
            Self::Uninstall => unit::uninstall(console),
        }
    }
}

/// The path of the directory of the node.
fn path(start: &Start<'_>) -> Result<PathBuf, Stop> {
    if let Some(named) = env::var_os(DIRECTORY).filter(|named| !named.is_empty()) {
        return Ok(std::path::absolute(PathBuf::from(named))?);
    }
    let missing = || {
        Stop::cannot_start(format!(
            "there is no data directory: the user has no home directory; set `{DIRECTORY}`"
        ))
    };
    Ok(start.load.data_dir_path().ok_or_else(missing)?.join("node"))
}

/// The directory of the node.
fn directory(start: &Start<'_>) -> Result<NodeDirectory, Stop> {
    NodeDirectory::open(path(start)?).map_err(|error| Stop::cannot_start(error.to_string()))
}

#[expect(clippy::needless_pass_by_value, reason = "an error of `map_err`")]
fn failed(error: NodeError) -> Stop {
    let exit = if error.is_final() { Exit::Configuration } else { Exit::Failed };
    Stop::Error { exit, message: error.to_string() }
}
