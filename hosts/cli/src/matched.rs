//! The values of arguments that clap matched.

use crate::exit::Stop;
use clap::ArgMatches;

/// Returns the text of an argument, where it is given.
pub(crate) fn text(matches: &mut ArgMatches, id: &str) -> Option<String> {
    matches.remove_one(id)
}

/// Returns the value of an argument that clap requires.
pub(crate) fn required<T>(value: Option<T>) -> Result<T, Stop> {
    value.ok_or_else(|| Stop::usage("an argument is missing; `--help` shows the usage"))
}
