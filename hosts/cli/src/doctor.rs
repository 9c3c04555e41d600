//! `doctor`: what this system offers, and what that means for how tools are configured.

use crate::console::Console;
use crate::definitions::print_in_order;
use crate::exit::Stop;
use crate::options::Format;
use builtin_tools::runtime::{CommandStrength, strength};
use clap::Command;
use std::fmt::Write as _;
use toolkit::{Toolbox, escape_line};

/// The subcommand.
pub(crate) fn command() -> Command {
    Command::new("doctor")
        .about("Shows what this system offers to contain commands, tried for real, and what that means here")
}

/// Prints it.
pub(crate) fn run(toolbox: &Toolbox, format: Format, console: &mut Console<'_>) -> Result<(), Stop> {
    let context = toolbox.context("exec").map_err(|error| Stop::from(&error))?;
    let found = strength(&context).map_err(|error| Stop::from(&error))?;
    match format {
        Format::Json => print_in_order(&found, console),
        Format::Text => {
            let text = page(&found, console);
            console.print(&text)
        }
    }
}

fn page(found: &CommandStrength, console: &Console<'_>) -> String {
    let paint = console.out_paint;
    let mut text = String::new();
    let width = found.features.iter().map(|feature| feature.name.len()).max().unwrap_or_default();
    for feature in &found.features {
        let name = format!("{:width$}", feature.name);
        let _ = match &feature.missing {
            None => writeln!(text, "{}  works", paint.bold(&name)),
            Some(why) => writeln!(text, "{}  missing: {}", paint.bold(&name), escape_line(why)),
        };
    }
    text.push('\n');
    for line in &found.means {
        let _ = writeln!(text, "{}", escape_line(line));
    }
    text
}
