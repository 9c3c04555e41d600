//! `docs`: a page of Markdown on all tools of this program.

use crate::console::Console;
use crate::definitions::print_json;
use crate::describe::{hints, whole};
use crate::exit::{Exit, Stop};
use crate::format::Format;
use crate::parameter_type::{Parameter, members, parameters};
use crate::subcommand::{Context, Run};
use crate::words::{indented, rules, type_word};
use clap::Command;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use toolkit::{Tool, text::escape_terminal};

/// Maximum depth to which objects within parameters are documented.
const DEEPEST: usize = 3;

/// A parsed `docs` subcommand.
#[derive(Debug)]
pub(crate) struct DocsRequest;

pub(crate) fn command() -> Command {
    Command::new("docs").about("Writes a Markdown page on all tools: purpose, arguments and permissions").long_about(
        "Writes a Markdown page on all tools linked into this program, by group: purpose, arguments, permissions and origin. The output is the same on every machine, so it can be committed and compared.",
    )
}

impl Run for DocsRequest {
    /// Prints the page, or all that is known of each tool as JSON.
    fn run(&self, context: &Context<'_>, console: &mut Console<'_>) -> Result<Exit, Stop> {
        // Tools from elsewhere are there once a caller has them.
        context.toolbox(console);
        let tools = context.host.toolkit().tools();
        match context.format {
            Format::Text => console.print(&page(&tools))?,
            Format::Json => {
                let tools = tools.iter().map(whole).collect::<Result<Vec<Value>, Stop>>()?;
                print_json(&tools.into(), console)?;
            }
        }
        Ok(Exit::Success)
    }
}

fn page(tools: &[Tool]) -> String {
    let mut by_group: BTreeMap<&str, Vec<&Tool>> = BTreeMap::new();
    for tool in tools {
        by_group.entry(tool.groups().next().unwrap_or_default()).or_default().push(tool);
    }
    let mut page = "# Tools\n\nWritten by `toolkit docs`.\n".to_owned();
    if tools.is_empty() {
        page.push_str("\nThere are none.\n");
    }
    // Tools without a group come last.
    let no_group = by_group.remove_entry("");
    for (group, tools) in by_group.into_iter().chain(no_group) {
        let _ = match group {
            "" => write!(page, "\n## Other tools\n"),
            group => write!(page, "\n## {}\n", inline(group)),
        };
        for tool in tools {
            section(tool, &mut page);
        }
    }
    page
}

fn section(tool: &Tool, page: &mut String) {
    let _ = write!(page, "\n### {}\n\n", code(tool.name()));
    if let Some(instead) = tool.deprecated() {
        let _ = write!(page, "**Deprecated**: {}\n\n", inline(instead));
    }
    let _ = write!(page, "{}\n\n", block(tool.description()));
    for (label, value) in facts(tool) {
        if !value.is_empty() {
            let _ = writeln!(page, "- {label}: {value}");
        }
    }
    if let Err(error) = tool.input_schema() {
        let _ = write!(page, "\nIt cannot be used: {}\n", inline(error.message()));
        return;
    }
    let parameters = parameters(tool);
    if parameters.is_empty() {
        page.push_str("\nIt takes no arguments.\n");
        return;
    }
    page.push_str("\nArguments:\n\n");
    for parameter in &parameters {
        entry(parameter, 0, page);
    }
}

fn facts(tool: &Tool) -> [(&'static str, String); 9] {
    let codes = |names: &mut dyn Iterator<Item = &str>| names.map(code).collect::<Vec<_>>().join(", ");
    let crate_name = tool.location().map(|location| location.crate_name()).filter(|name| !name.is_empty());
    let source = match crate_name {
        Some(name) => format!("{}, of the crate {}", inline(&tool.source().to_string()), code(name)),
        None => inline(&tool.source().to_string()),
    };
    let own_title = Some(tool.title()).filter(|title| *title != tool.name());
    [
        ("Title", own_title.map(inline).unwrap_or_default()),
        ("Source", source),
        ("Groups", codes(&mut tool.groups())),
        ("Other names", codes(&mut tool.aliases())),
        ("Permission", code(tool.permission())),
        ("Hints", hints(tool).join(", ")),
        ("Channel", tool.channel().map(code).unwrap_or_default()),
        ("Time limit", tool.timeout().map(|timeout| format!("{timeout:?}")).unwrap_or_default()),
        ("Calls at once", tool.concurrency().map(|count| count.to_string()).unwrap_or_default()),
    ]
}

/// Adds a parameter as an entry of a list, with the parameters nested in it.
fn entry(parameter: &Parameter<'_>, level: usize, page: &mut String) {
    let indent = "  ".repeat(level);
    let mut notes = vec![type_word(&parameter.ty)];
    notes.push(if parameter.required { "required" } else { "optional" }.to_owned());
    notes.extend(rules(&parameter.ty));
    let notes: Vec<String> = notes.iter().map(|note| inline(note)).collect();
    let description = block(parameter.description);
    let (first, rest) = description.split_once('\n').unwrap_or((&description, ""));
    let colon = if first.is_empty() { "" } else { ": " };
    let _ = writeln!(page, "{indent}- {} ({}){colon}{first}", code(parameter.name), notes.join(", "));
    page.push_str(&indented(rest, &format!("{indent}  ")));
    if level < DEEPEST {
        for inner in members(&parameter.ty) {
            entry(&inner, level + 1, page);
        }
    }
}

/// A name as code, also where it has backticks itself.
fn code(name: &str) -> String {
    let name = escape_terminal(name).replace('\n', " ");
    if name.contains('`') { format!("`` {name} ``") } else { format!("`{name}`") }
}

/// Formats a text of several lines, which is Markdown already.
fn block(text: &str) -> String {
    escape_terminal(text.trim_end()).into_owned()
}

/// A text in one line, in which nothing is Markdown.
fn inline(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for sign in escape_terminal(text).chars() {
        match sign {
            '\n' => plain.push(' '),
            '*' | '_' | '`' | '[' | ']' | '<' | '>' | '|' | '\\' | '#' => plain.extend(['\\', sign]),
            sign => plain.push(sign),
        }
    }
    plain
}
