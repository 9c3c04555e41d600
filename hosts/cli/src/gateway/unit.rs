//! `gateway install` and `uninstall`: a unit of systemd for the user.

use super::reach::data_dir;
use crate::console::Console;
use crate::exit::{Exit, Stop};
use crate::subcommand::Start;
use crate::systemd::{self, Unit};
use clap::{ArgMatches, Command};

/// The name of the unit.
const UNIT: &str = "toolkit-gateway.service";

/// A parsed subcommand.
#[derive(Debug, Clone, Copy)]
pub(crate) enum UnitRequest {
    Install,
    Uninstall,
}

pub(super) fn commands() -> Vec<Command> {
    vec![
        Command::new("install")
            .about("Writes a unit of systemd for this user, so that the gateway runs in the background"),
        Command::new("uninstall").about("Removes that unit; the data directory stays"),
    ]
}

pub(super) fn request(name: &str, _matches: &mut ArgMatches) -> UnitRequest {
    if name == "uninstall" { UnitRequest::Uninstall } else { UnitRequest::Install }
}

pub(super) fn run(request: UnitRequest, start: &Start<'_>, console: &mut Console<'_>) -> Result<Exit, Stop> {
    match request {
        UnitRequest::Install => {
            let environment = [("TOOLKIT_DATA_DIR", data_dir(start)?)];
            let unit = Unit {
                name: UNIT,
                description: "The process in which agents of the toolkit live",
                subcommand: "gateway",
                environment: &environment,
                stop_within: 90,
            };
            unit.install(console)
        }
        UnitRequest::Uninstall => systemd::uninstall(UNIT, console),
    }
}
