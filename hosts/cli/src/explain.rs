//! `explain`: why a tool is available to a caller or not, and the verdict on a command.

#[cfg(feature = "runtime")]
mod commands;

use crate::console::Console;
use crate::definitions::{find, print_json};
use crate::exit::{Exit, Stop};
use crate::format::Format;
use crate::matched::{required, text};
use crate::subcommand::{Context, Run};
use clap::{Arg, ArgMatches, Command};
use std::fmt::Write as _;
use toolkit::{Toolbox, policy::Explanation, text::escape_line};
#[cfg(feature = "mcp")]
use toolkit_host::McpSelection;

/// The subject of `explain`.
#[derive(Debug)]
pub(crate) enum ExplainRequest {
    Tool {
        name: String,
    },
    #[cfg(feature = "runtime")]
    Command {
        text: String,
    },
}

/// The subcommand.
pub(crate) fn command() -> Command {
    let command = Command::new("explain")
        .about("Explains the policy: for a tool, or for a shell command")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            Command::new("tool")
                .about("Shows why a tool is available to a caller or not, by layer of the policy")
                .arg(Arg::new("name").value_name("NAME").required(true).help("The tool's name or alias")),
        );
    #[cfg(feature = "runtime")]
    let command = command.subcommand(
        Command::new("command")
            .about("Shows if a shell command would be allowed, part by part, without running it")
            .arg(
                Arg::new("text")
                    .value_name("COMMAND")
                    .required(true)
                    .allow_hyphen_values(true)
                    .help("The command, as one word: 'cat a.txt | sort'"),
            ),
    );
    command
}

/// Returns the subject of `explain` in the matches.
pub(crate) fn request(matches: &mut ArgMatches) -> Result<ExplainRequest, Stop> {
    match matches.remove_subcommand() {
        #[cfg(feature = "runtime")]
        Some((what, mut matches)) if what == "command" => {
            Ok(ExplainRequest::Command { text: required(text(&mut matches, "text"))? })
        }
        Some((_, mut matches)) => Ok(ExplainRequest::Tool { name: required(text(&mut matches, "name"))? }),
        None => Err(Stop::usage("what to explain is missing; `explain --help` lists it")),
    }
}

impl Run for ExplainRequest {
    fn run(&self, context: &Context<'_>, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let (toolbox, format) = (context.toolbox(console), context.format);
        match self {
            Self::Tool { name } => tool(toolbox, name, format, console),
            #[cfg(feature = "runtime")]
            Self::Command { text } => commands::run(text, toolbox, context.runtime, format, console),
        }
    }

    #[cfg(feature = "mcp")]
    fn servers(&self) -> McpSelection {
        match self {
            Self::Tool { name } => McpSelection::OfTool(name.clone()),
            #[cfg(feature = "runtime")]
            Self::Command { .. } => McpSelection::None,
        }
    }
}

/// Prints the decision of each layer of the policy on the tool, and the rule that made it.
fn tool(toolbox: &Toolbox, name: &str, format: Format, console: &mut Console<'_>) -> Result<Exit, Stop> {
    let Some(explanation) = toolbox.explain(name) else {
        find(toolbox, name)?;
        return Err(Stop::failed(format!("there is no explanation for `{name}`; try again")));
    };
    match format {
        Format::Json => print_json(&serde_json::to_value(&explanation)?, console)?,
        Format::Text => {
            let text = page(&explanation, console);
            console.print(&text)?;
        }
    }
    Ok(match (explanation.exists, explanation.denied_by()) {
        (true, _) => Exit::Success,
        (false, _) if explanation.absence.is_some() => Exit::UnknownTool,
        (false, None) if !explanation.present => Exit::UnknownTool,
        (false, _) => Exit::Denied,
    })
}

fn page(explanation: &Explanation, console: &Console<'_>) -> String {
    let name = console.out_paint.bold(&explanation.tool);
    let mut text = match (explanation.exists, explanation.denied_by()) {
        _ if !explanation.present => {
            let judged = match explanation.denied_by() {
                Some(layer) => format!("that name is denied by {}", escape_line(&layer.layer)),
                None => "nothing in the policy denies that name".to_owned(),
            };
            match &explanation.absence {
                Some(why) if explanation.layers.is_empty() => {
                    format!("{name} is not there: {}.\n", escape_line(why))
                }
                Some(why) => {
                    format!("{name} is not there: {}; for this caller {judged}.\n\n", escape_line(why))
                }
                None => format!("{name} is not linked into this program; for this caller {judged}.\n\n"),
            }
        }
        (true, _) => format!("{name} is there for this caller.\n\n"),
        (false, Some(layer)) => {
            format!("{name} is not there for this caller: denied by {}.\n\n", escape_line(&layer.layer))
        }
        (false, None) => format!("{name} is not there for this caller.\n\n"),
    };
    for layer in &explanation.layers {
        let _ = writeln!(text, "{layer}");
    }
    text
}
