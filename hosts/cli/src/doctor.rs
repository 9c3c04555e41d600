//! `doctor`: the features of this system, their consequences for the configuration of tools, and the problems in the
//! configuration.

use crate::console::Console;
use crate::definitions::print_in_order;
use crate::exit::{Exit, Stop};
use crate::format::Format;
use crate::subcommand::{Context, Run};
#[cfg(feature = "browser")]
use builtin_tools::browser::{BrowserState, browser_state};
#[cfg(feature = "runtime")]
use builtin_tools::runtime::{CommandStrength, strength};
#[cfg(feature = "web")]
use builtin_tools::web::{ProviderState, search_providers};
use clap::Command;
use serde::Serialize;
use std::fmt::Write as _;
use toolkit::{
    Toolbox, Toolkit,
    registry::{Diagnostic, Level},
    text::escape_line,
};

/// The subcommand.
pub(crate) fn command() -> Command {
    Command::new("doctor").about(
        "Tests the sandbox support of this system, and shows the browser, the web search providers and configuration errors",
    )
}

/// The capabilities of the system, and the problems in the configuration.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Report {
    #[cfg(feature = "runtime")]
    #[serde(flatten)]
    commands: CommandStrength,
    /// Absent where the caller has no `browser`.
    #[cfg(feature = "browser")]
    #[serde(skip_serializing_if = "Option::is_none")]
    browser: Option<BrowserState>,
    /// Absent where the caller has no `web_search`.
    #[cfg(feature = "web")]
    #[serde(skip_serializing_if = "Option::is_none")]
    search_providers: Option<Vec<ProviderState>>,
    diagnostics: Vec<Diagnostic>,
}

/// A parsed `doctor` subcommand.
#[derive(Debug)]
pub(crate) struct DoctorRequest;

impl Run for DoctorRequest {
    fn run(&self, context: &Context<'_>, console: &mut Console<'_>) -> Result<Exit, Stop> {
        run(context.host.toolkit(), context.toolbox(console), context.format, console)?;
        Ok(Exit::Success)
    }

    fn shows_diagnostics(&self) -> bool {
        true
    }
}

/// Prints the report.
fn run(toolkit: &Toolkit, toolbox: &Toolbox, format: Format, console: &mut Console<'_>) -> Result<(), Stop> {
    let said = toolkit.diagnostics().iter().filter(|said| said.level > Level::Info);
    let diagnostics: Vec<Diagnostic> = said.cloned().collect();
    #[cfg(feature = "runtime")]
    let commands = match toolbox.context("exec").and_then(|context| strength(&context)) {
        Ok(commands) => commands,
        Err(error) => {
            for diagnostic in &diagnostics {
                console.note(&diagnostic.to_string());
            }
            return Err(Stop::from(&error));
        }
    };
    let report = Report {
        #[cfg(feature = "runtime")]
        commands,
        #[cfg(feature = "browser")]
        browser: match toolbox.context("browser") {
            Ok(context) => Some(browser_state(&context).map_err(|error| Stop::from(&error))?),
            Err(_) => None,
        },
        #[cfg(feature = "web")]
        search_providers: match toolbox.context("web_search") {
            Ok(context) => Some(search_providers(&context).map_err(|error| Stop::from(&error))?),
            Err(_) => None,
        },
        diagnostics,
    };
    match format {
        Format::Json => print_in_order(&report, console),
        Format::Text => {
            let text = page(&report, console);
            console.print(&text)
        }
    }
}

fn page(found: &Report, console: &Console<'_>) -> String {
    let paint = console.out_paint;
    let mut text = String::new();
    #[cfg(feature = "runtime")]
    {
        let commands = &found.commands;
        let width = commands.features.iter().map(|feature| feature.name.len()).max().unwrap_or_default();
        for feature in &commands.features {
            let name = paint.bold(&format!("{:width$}", feature.name));
            let _ = match &feature.missing {
                None => writeln!(text, "{name}  works"),
                Some(why) => writeln!(text, "{name}  missing: {}", escape_line(why)),
            };
        }
        text.push_str("\nOf a command that is known to be read-only:\n");
        for said in &commands.reading {
            let state = if said.holds { "holds" } else { "does not hold here" };
            let _ = writeln!(text, "- {}: {state}, by {} (Linux {})", said.guarantee, said.by, said.since);
        }
        text.push('\n');
        for line in &commands.means {
            let _ = writeln!(text, "{}", escape_line(line));
        }
    }
    #[cfg(feature = "browser")]
    if let Some(browser) = &found.browser {
        if !text.is_empty() {
            text.push('\n');
        }
        let name = paint.bold("browser");
        let _ = match (&browser.executable, &browser.remote, &browser.missing) {
            (Some(executable), ..) => {
                writeln!(text, "{name}  works: {}", escape_line(&executable.to_string_lossy()))
            }
            (None, Some(remote), None) => {
                writeln!(text, "{name}  runs at {}: it is used once a person approves", escape_line(remote))
            }
            (None, _, missing) => {
                writeln!(text, "{name}  missing: {}", escape_line(missing.as_deref().unwrap_or_default()))
            }
        };
        if let Some(why) = &browser.without_sandbox {
            let _ = writeln!(
                text,
                "The browser runs without its own sandbox (`--no-sandbox`): {}",
                escape_line(why)
            );
        }
    }
    #[cfg(feature = "web")]
    for provider in found.search_providers.iter().flatten() {
        if !text.is_empty() && provider.name == "brave" {
            text.push('\n');
        }
        let name = paint.bold(&format!("web_search by {:10}", provider.name));
        let _ = match &provider.missing {
            None if provider.used => writeln!(text, "{name}  works, and is used"),
            None => writeln!(text, "{name}  could be used: `tools.web.search.provider` names another one"),
            Some(why) => writeln!(text, "{name}  missing: {}", escape_line(why)),
        };
    }
    if !found.diagnostics.is_empty() {
        text.push('\n');
    }
    for diagnostic in &found.diagnostics {
        let _ = writeln!(text, "{diagnostic}");
    }
    text
}
