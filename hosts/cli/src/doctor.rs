//! `doctor`: what this system offers, and what that means for how tools are configured.

use crate::console::Console;
use crate::definitions::print_in_order;
use crate::exit::Stop;
use crate::options::Format;
#[cfg(feature = "runtime")]
use builtin_tools::runtime::{CommandStrength, strength};
#[cfg(feature = "web")]
use builtin_tools::web::{ProviderState, search_providers};
use clap::Command;
use serde::Serialize;
use std::fmt::Write as _;
use toolkit::{Toolbox, escape_line};

/// The subcommand.
pub(crate) fn command() -> Command {
    Command::new("doctor").about(
        "Shows what this system offers to contain commands, tried for real, which providers can search the web, and what that means here",
    )
}

/// What was found.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Found {
    #[cfg(feature = "runtime")]
    #[serde(flatten)]
    commands: CommandStrength,
    /// Absent where the caller has no `web_search`.
    #[cfg(feature = "web")]
    #[serde(skip_serializing_if = "Option::is_none")]
    search_providers: Option<Vec<ProviderState>>,
}

/// Prints it.
pub(crate) fn run(toolbox: &Toolbox, format: Format, console: &mut Console<'_>) -> Result<(), Stop> {
    let found = Found {
        #[cfg(feature = "runtime")]
        commands: {
            let context = toolbox.context("exec").map_err(|error| Stop::from(&error))?;
            strength(&context).map_err(|error| Stop::from(&error))?
        },
        #[cfg(feature = "web")]
        search_providers: match toolbox.context("web_search") {
            Ok(context) => Some(search_providers(&context).map_err(|error| Stop::from(&error))?),
            Err(_) => None,
        },
    };
    match format {
        Format::Json => print_in_order(&found, console),
        Format::Text => {
            let text = page(&found, console);
            console.print(&text)
        }
    }
}

fn page(found: &Found, console: &Console<'_>) -> String {
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
        text.push('\n');
        for line in &commands.means {
            let _ = writeln!(text, "{}", escape_line(line));
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
    text
}
