//! `gateway backup` and `restore`.

use super::reach::{data_dir, reach};
use crate::console::Console;
use crate::definitions::print_json;
use crate::exit::{Exit, Stop};
use crate::format::Format;
use crate::matched::required;
use crate::runtime;
use crate::subcommand::Start;
use clap::{Arg, ArgMatches, Command, ValueHint, value_parser};
use serde_json::json;
use std::path::PathBuf;

/// A parsed subcommand.
#[derive(Debug, Clone)]
pub(crate) enum BackupRequest {
    Make { directory: PathBuf },
    Restore { directory: PathBuf },
}

pub(super) fn commands() -> Vec<Command> {
    let directory = |help: &'static str| {
        Arg::new("directory")
            .value_name("DIR")
            .required(true)
            .value_parser(value_parser!(PathBuf))
            .value_hint(ValueHint::DirPath)
            .help(help)
    };
    vec![
        Command::new("backup")
            .about("Makes a directory with a consistent copy of the store and the transcripts, while the gateway runs or not")
            .arg(directory("The directory to make")),
        Command::new("restore")
            .about("Puts a backup in the place of the store and the transcripts; no gateway may run")
            .long_about(
                "Puts a backup in the place of the store and the transcripts; no gateway may run. What is there is moved into a directory beside it, and not removed.\n\nWhat the backup had not sent becomes `unknown`, and runs that were under way end as failed: both may have happened since the backup was made. Questions and tokens are removed: make the tokens anew. The next start makes one for the owner.",
            )
            .arg(directory("The directory of the backup")),
    ]
}

pub(super) fn request(name: &str, matches: &mut ArgMatches) -> Result<BackupRequest, Stop> {
    let directory = required(matches.remove_one("directory"))?;
    Ok(if name == "restore" {
        BackupRequest::Restore { directory }
    } else {
        BackupRequest::Make { directory }
    })
}

pub(super) fn run(
    request: &BackupRequest,
    start: &Start<'_>,
    console: &mut Console<'_>,
) -> Result<Exit, Stop> {
    match request {
        BackupRequest::Make { directory } => {
            let directory = std::path::absolute(directory)?;
            let made = reach(start)?.post("/v1/backup", &json!({ "directory": directory }))?;
            match start.format {
                Format::Json => print_json(&made, console)?,
                Format::Text => console.note(&format!("the backup is in {}", directory.display())),
            }
        }
        BackupRequest::Restore { directory } => {
            let restored = runtime::new()?.block_on(toolkit_gateway::restore(directory, data_dir(start)?));
            let before = restored.map_err(|error| Stop::failed(error.to_string()))?;
            match start.format {
                Format::Json => print_json(&json!({ "before": before }), console)?,
                Format::Text => {
                    console.note(&format!(
                        "the backup is in place; what was there before is in {}",
                        before.display()
                    ));
                }
            }
        }
    }
    Ok(Exit::Success)
}
