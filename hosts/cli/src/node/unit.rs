//! `node install` and `uninstall`: a unit of systemd for the user.

use super::{DIRECTORY, path};
use crate::console::Console;
use crate::exit::{Exit, Stop};
use crate::subcommand::Start;
use crate::systemd::{self, Unit};
use clap::Command;

/// The name of the unit.
const UNIT: &str = "toolkit-node.service";

pub(super) fn commands() -> Vec<Command> {
    vec![
        Command::new("install")
            .about("Writes a unit of systemd for this user, so that this device serves in the background"),
        Command::new("uninstall").about("Removes that unit; the keys stay"),
    ]
}

pub(super) fn install(start: &Start<'_>, console: &mut Console<'_>) -> Result<Exit, Stop> {
    let path = path(start)?;
    let environment = [(DIRECTORY, &*path)];
    let unit = Unit {
        name: UNIT,
        description: "This device as a node of a gateway of the toolkit",
        subcommand: "node run",
        environment: &environment,
        stop_within: 15,
    };
    unit.install(console)
}

pub(super) fn uninstall(console: &mut Console<'_>) -> Result<Exit, Stop> {
    systemd::uninstall(UNIT, console)
}
