//! `gateway`: the process in which agents live, and what a person does with it.

mod asks;
mod backups;
mod log;
mod nodes;
mod operate;
mod people;
mod reach;
mod serve;
mod tokens;
mod unit;

pub(crate) use reach::{Reached, failed, reach, reach_running};

use crate::console::Console;
use crate::exit::{Exit, Stop};
use crate::subcommand::{RunAtOnce, Start};
use clap::{ArgMatches, Command};

/// A parsed `gateway` subcommand.
#[derive(Debug, Clone)]
pub(crate) enum GatewayRequest {
    Serve(serve::ServeRequest),
    Operate(operate::OperateRequest),
    Asks(asks::AsksRequest),
    Nodes(nodes::NodesRequest),
    People(people::PeopleRequest),
    Token(tokens::TokenRequest),
    Backup(backups::BackupRequest),
    Unit(unit::UnitRequest),
}

pub(crate) fn command() -> Command {
    serve::arguments(Command::new("gateway"))
        .about("Runs the process in which agents live, and manages it")
        .long_about(
            "Runs the process in which agents live: they keep sessions for weeks, are reached from the command line and over HTTP, and go on after a crash where they were.\n\nWithout a subcommand it runs until Ctrl-C, SIGTERM or `gateway stop`. The other subcommands use the gateway that runs with the same data directory; those that only need its store work without one, too.",
        )
        .subcommands(operate::commands())
        .subcommands(asks::commands())
        .subcommand(nodes::command())
        .subcommands(people::commands())
        .subcommand(tokens::command())
        .subcommands(backups::commands())
        .subcommands(unit::commands())
}

pub(crate) fn request(matches: &mut ArgMatches) -> Result<GatewayRequest, Stop> {
    let Some((name, mut matches)) = matches.remove_subcommand() else {
        return Ok(GatewayRequest::Serve(serve::request(matches)));
    };
    Ok(match name.as_str() {
        "asks" | "approve" | "deny" => GatewayRequest::Asks(asks::request(&name, &mut matches)?),
        "nodes" => GatewayRequest::Nodes(nodes::request(&mut matches)?),
        "pair" | "people" | "channels" => GatewayRequest::People(people::request(&name, &mut matches)?),
        "token" => GatewayRequest::Token(tokens::request(&mut matches)?),
        "backup" | "restore" => GatewayRequest::Backup(backups::request(&name, &mut matches)?),
        "install" | "uninstall" => GatewayRequest::Unit(unit::request(&name, &mut matches)),
        _ => GatewayRequest::Operate(operate::request(&name, &mut matches)),
    })
}

impl RunAtOnce for GatewayRequest {
    fn run(&self, start: Start<'_>, console: &mut Console<'_>) -> Result<Exit, Stop> {
        match self {
            Self::Serve(request) => serve::run(request, start, console),
            Self::Operate(request) => operate::run(request, &start, console),
            Self::Asks(request) => asks::run(request, &start, console),
            Self::Nodes(request) => nodes::run(request, &start, console),
            Self::People(request) => people::run(request, &start, console),
            Self::Token(request) => tokens::run(request, &start, console),
            Self::Backup(request) => backups::run(request, &start, console),
            Self::Unit(request) => unit::run(*request, &start, console),
        }
    }
}
