//! `doctor`: what this system offers, what that means for how tools are configured, and what is wrong with the configuration.

use crate::console::Console;
use crate::definitions::print_in_order;
use crate::exit::Stop;
use crate::options::Format;
use builtin_tools::runtime::{CommandStrength, strength};
use clap::Command;
use serde::Serialize;
use std::fmt::Write as _;
use toolkit::{Diagnostic, Level, Toolbox, Toolkit, escape_line};

/// The subcommand.
pub(crate) fn command() -> Command {
    Command::new("doctor")
        .about("Shows what this system offers to contain commands, tried for real, and what is wrong with the configuration")
}

/// What the system offers, and what is wrong with the configuration.
#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    found: CommandStrength,
    diagnostics: Vec<Diagnostic>,
}

/// Prints the report.
pub(crate) fn run(
    toolkit: &Toolkit,
    toolbox: &Toolbox,
    format: Format,
    console: &mut Console<'_>,
) -> Result<(), Stop> {
    let said = toolkit.diagnostics().iter().filter(|said| said.level > Level::Info);
    let diagnostics: Vec<Diagnostic> = said.cloned().collect();
    let found = match toolbox.context("exec").and_then(|context| strength(&context)) {
        Ok(found) => found,
        Err(error) => {
            for diagnostic in &diagnostics {
                console.note(&diagnostic.to_string());
            }
            return Err(Stop::from(&error));
        }
    };
    let report = Report { found, diagnostics };
    match format {
        Format::Json => print_in_order(&report, console),
        Format::Text => {
            let text = page(&report, console);
            console.print(&text)
        }
    }
}

fn page(Report { found, diagnostics }: &Report, console: &Console<'_>) -> String {
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
    if !diagnostics.is_empty() {
        text.push('\n');
    }
    for diagnostic in diagnostics {
        let _ = writeln!(text, "{diagnostic}");
    }
    text
}
