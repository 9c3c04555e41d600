//! `cron list` and `cron runs`.

use super::changes::{id, path};
use super::lines;
use crate::console::Console;
use crate::definitions::print_json;
use crate::exit::{Exit, Stop};
use crate::format::Format;
use crate::gateway::reach;
use crate::matched::{required, text};
use crate::subcommand::Start;
use clap::{Arg, ArgMatches, Command, value_parser};
use serde_json::Value;

/// A parsed subcommand.
#[derive(Debug, Clone)]
pub(crate) enum ListRequest {
    Jobs,
    Runs { id: String, limit: u32 },
}

pub(super) fn commands() -> Vec<Command> {
    vec![
        Command::new("list").about("Lists the jobs, in the order in which they were added"),
        Command::new("runs").about("Lists the last runs of a job, the newest first").arg(id()).arg(
            Arg::new("limit")
                .long("limit")
                .value_name("COUNT")
                .value_parser(value_parser!(u32).range(1..=200))
                .default_value("20")
                .help("The most runs"),
        ),
    ]
}

pub(super) fn request(name: &str, matches: &mut ArgMatches) -> Result<ListRequest, Stop> {
    if name == "list" {
        return Ok(ListRequest::Jobs);
    }
    Ok(ListRequest::Runs {
        id: required(text(matches, "id"))?,
        limit: required(matches.remove_one("limit"))?,
    })
}

pub(super) fn run(request: &ListRequest, start: &Start<'_>, console: &mut Console<'_>) -> Result<Exit, Stop> {
    let reached = reach(start)?;
    let (found, none) = match request {
        ListRequest::Jobs => {
            let none = "there is no job; `toolkit cron add` adds one";
            (reached.get("/v1/schedules")?, none)
        }
        ListRequest::Runs { id, limit } => {
            (reached.get(&format!("{}/runs?limit={limit}", path(id)))?, "the job has not run yet")
        }
    };
    if start.format == Format::Json {
        print_json(&found, console)?;
        return Ok(Exit::Success);
    }
    let (key, line): (_, fn(&Value) -> String) = match request {
        ListRequest::Jobs => ("jobs", lines::job),
        ListRequest::Runs { .. } => ("runs", lines::run),
    };
    let lines: String = found[key].as_array().into_iter().flatten().map(line).collect();
    if lines.is_empty() {
        console.note(none);
    } else {
        console.print(&lines)?;
    }
    Ok(Exit::Success)
}
