//! `cron`: jobs of the gateway, and when an expression is due.

mod changes;
mod due_times;
mod lines;
mod listing;

use crate::console::Console;
use crate::exit::{Exit, Stop};
use crate::matched::required;
use crate::subcommand::{RunAtOnce, Start};
use clap::{ArgMatches, Command};

/// A parsed `cron` subcommand.
#[derive(Debug, Clone)]
pub(crate) enum CronRequest {
    Next(due_times::NextRequest),
    Change(changes::ChangeRequest),
    List(listing::ListRequest),
}

pub(crate) fn command() -> Command {
    Command::new("cron")
        .about("Schedules work for agents, and shows when it is due")
        .long_about(
            "Schedules work for agents, and shows when it is due. A job is a prompt for an agent, or a call of a tool without a model, at the times of a cron expression, at intervals, or once.\n\nJobs are those of the gateway that runs with the same data directory. Without one they are changed in its store, and run once a gateway does.",
        )
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommands(changes::commands())
        .subcommands(listing::commands())
        .subcommand(due_times::command())
}

pub(crate) fn request(matches: &mut ArgMatches) -> Result<CronRequest, Stop> {
    let (name, mut matches) = required(matches.remove_subcommand())?;
    Ok(match name.as_str() {
        "next" => CronRequest::Next(due_times::request(&mut matches)?),
        "list" | "runs" => CronRequest::List(listing::request(&name, &mut matches)?),
        _ => CronRequest::Change(changes::request(&name, &mut matches)?),
    })
}

impl RunAtOnce for CronRequest {
    fn run(&self, start: Start<'_>, console: &mut Console<'_>) -> Result<Exit, Stop> {
        match self {
            Self::Next(request) => due_times::run(request, &start, console),
            Self::Change(request) => changes::run(request, &start, console),
            Self::List(request) => listing::run(request, &start, console),
        }
    }
}
