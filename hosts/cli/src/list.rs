//! `list`: the tools, one a line, or the toolkit's diagnostics.

use crate::console::Console;
use crate::definitions::{note_missing, print_json};
use crate::exit::{Exit, Stop};
use crate::format::Format;
use crate::matched::text;
use crate::subcommand::{Context, Run};
use crate::words::first_sentence;
use clap::{Arg, ArgAction, ArgMatches, Command};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use toolkit::{
    Tool, Toolbox, Toolkit,
    descriptor::Definition,
    registry::Diagnostic,
    text::{escape_terminal, nearest},
};
#[cfg(feature = "mcp")]
use toolkit_host::McpSelection;

/// A parsed `list` subcommand.
#[derive(Debug)]
pub(crate) struct ListRequest {
    group: Option<String>,
    /// Lists the diagnostics instead of the tools.
    diagnostics: bool,
}

pub(crate) fn command() -> Command {
    Command::new("list")
        .about("Lists the tools")
        .arg(Arg::new("group").long("group").value_name("GROUP").help("Only the tools of this group"))
        .arg(
            Arg::new("diagnostics")
                .long("diagnostics")
                .action(ArgAction::SetTrue)
                .conflicts_with("group")
                .help("Lists diagnostics of the tools instead of the tools"),
        )
}

pub(crate) fn request(matches: &mut ArgMatches) -> ListRequest {
    ListRequest { group: text(matches, "group"), diagnostics: matches.get_flag("diagnostics") }
}

impl Run for ListRequest {
    fn run(&self, context: &Context<'_>, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let toolbox = context.toolbox(console);
        let format = context.format;
        if self.diagnostics {
            diagnostics(context.host.toolkit(), toolbox, &context.noticed(), format, console)?;
        } else {
            tools(toolbox, self.group.as_deref(), format, console)?;
        }
        Ok(Exit::Success)
    }

    #[cfg(feature = "mcp")]
    fn servers(&self) -> McpSelection {
        McpSelection::All
    }

    fn shows_diagnostics(&self) -> bool {
        self.diagnostics
    }
}

/// Prints all tools, or the tools of a group.
fn tools(
    toolbox: &Toolbox,
    group: Option<&str>,
    format: Format,
    console: &mut Console<'_>,
) -> Result<(), Stop> {
    let tools: Vec<&Tool> = toolbox
        .tools()
        .filter(|tool| group.is_none_or(|group| tool.groups().any(|other| other == group)))
        .collect();
    if let (true, Some(group)) = (tools.is_empty(), group) {
        return Err(unknown_group(toolbox, group));
    }
    if format == Format::Json {
        note_missing(tools.iter().copied(), console);
        let definitions: Vec<Definition> = tools.iter().filter_map(|tool| tool.definition().ok()).collect();
        return print_json(&serde_json::to_value(definitions)?, console);
    }
    if tools.is_empty() {
        let denied = toolbox.denied();
        console.note(&match denied.as_slice() {
            [] => "There are no tools: name the crates that provide them in `toolkit::link!`.".to_owned(),
            [only] => format!(
                "There are no tools for this caller: `{0}` is denied; `toolkit explain tool {0}` says by what.",
                only.tool
            ),
            [first, ..] => {
                let (count, first) = (denied.len(), &first.tool);
                format!(
                    "There are no tools for this caller: all {count} are denied; `toolkit explain tool {first}` says by what, \
                     and so for each name."
                )
            }
        });
    }
    let text = table(&tools, console);
    console.print(&text)
}

fn table(tools: &[&Tool], console: &Console<'_>) -> String {
    let paint = console.out_paint;
    let groups: Vec<String> = tools.iter().map(|tool| tool.groups().collect::<Vec<_>>().join(",")).collect();
    let name_width = tools.iter().map(|tool| tool.name().len()).max().unwrap_or_default();
    let group_width = groups.iter().map(String::len).max().unwrap_or_default();
    let mut text = String::new();
    for (tool, group) in tools.iter().zip(&groups) {
        // Padded before it is painted: escape codes have no width.
        let name = paint.bold(&format!("{:name_width$}", tool.name()));
        let group = paint.dim(&format!("{group:group_width$}"));
        let deprecated = if tool.deprecated().is_some() { "(deprecated) " } else { "" };
        let _ = writeln!(
            text,
            "{name}  {group}  {deprecated}{}",
            escape_terminal(&first_sentence(tool.description()))
        );
    }
    text
}

fn unknown_group(toolbox: &Toolbox, group: &str) -> Stop {
    let groups: BTreeSet<&str> = toolbox.tools().flat_map(Tool::groups).collect();
    let near = nearest(group, groups.iter().copied());
    let advice = match (near.first(), groups.is_empty()) {
        (Some(near), _) => format!("did you mean `{near}`?"),
        (None, true) => "no tool is in any group".to_owned(),
        (None, false) => format!("there are: {}", groups.into_iter().collect::<Vec<_>>().join(", ")),
    };
    Stop::usage(format!("no tool is in the group `{group}`; {advice}"))
}

/// Prints the diagnostics from assembling the tools.
fn diagnostics(
    toolkit: &Toolkit,
    toolbox: &Toolbox,
    of_servers: &[Diagnostic],
    format: Format,
    console: &mut Console<'_>,
) -> Result<(), Stop> {
    let diagnostics = [toolkit.diagnostics(), toolbox.diagnostics(), of_servers].concat();
    if format == Format::Json {
        return print_json(&serde_json::to_value(diagnostics)?, console);
    }
    if diagnostics.is_empty() {
        console.note("Nothing to report.");
    }
    let text = diagnostics.iter().fold(String::new(), |text, diagnostic| text + &format!("{diagnostic}\n"));
    console.print(&text)
}
