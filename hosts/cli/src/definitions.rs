//! Finding the tool that a command line names, and printing JSON.

use crate::console::Console;
use crate::exit::{Stop, for_people};
use serde_json::Value;
use toolkit::{Tool, Toolbox};

/// Prints which tools are missing from a list of definitions, and why.
pub(crate) fn note_missing<'a>(tools: impl Iterator<Item = &'a Tool>, console: &mut Console<'_>) {
    for error in tools.filter_map(|tool| tool.definition().err()) {
        console.note(&format!("warning: {error}"));
    }
}

pub(crate) fn print_json(value: &Value, console: &mut Console<'_>) -> Result<(), Stop> {
    console.print_json(&format!("{value:#}\n"))
}

/// Prints a value with its fields in order.
#[cfg(any(feature = "browser", feature = "runtime", feature = "web"))]
pub(crate) fn print_in_order(value: &impl serde::Serialize, console: &mut Console<'_>) -> Result<(), Stop> {
    console.print_json(&format!("{}\n", serde_json::to_string_pretty(value)?))
}

/// Returns the tool of this name or alias, or else the toolbox's error.
pub(crate) fn find<'a>(toolbox: &'a Toolbox, name: &str) -> Result<&'a Tool, Stop> {
    toolbox.find(name).map_err(|error| Stop::Error {
        exit: error.kind().into(),
        message: for_people(&error, toolbox, name),
    })
}
