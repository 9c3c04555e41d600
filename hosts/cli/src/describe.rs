//! `describe`: all that is known of a tool, on a page for people or as JSON.

use crate::console::{Console, Paint};
use crate::definitions::{find, print_json};
use crate::exit::{Exit, Stop};
use crate::format::Format;
use crate::matched::{required, text};
use crate::parameter_type::{Parameter, parameters};
use crate::shape;
use crate::subcommand::{Context, Run};
use crate::words::{rules, type_word};
use crate::wrap::{columns, paragraphs, wrap};
use clap::{Arg, ArgMatches, Command};
use serde_json::{Value, json};
use std::fmt::Write as _;
use toolkit::{Tool, descriptor::Location, text::escape_terminal};
#[cfg(feature = "mcp")]
use toolkit_host::McpSelection;

/// A parsed `describe` subcommand.
#[derive(Debug)]
pub(crate) struct DescribeRequest {
    name: String,
}

pub(crate) fn command() -> Command {
    Command::new("describe")
        .about("Shows the full definition of a tool")
        .arg(Arg::new("name").value_name("NAME").required(true).help("The tool's name or alias"))
}

pub(crate) fn request(matches: &mut ArgMatches) -> Result<DescribeRequest, Stop> {
    Ok(DescribeRequest { name: required(text(matches, "name"))? })
}

impl Run for DescribeRequest {
    /// Prints the page of a tool, or its JSON.
    fn run(&self, context: &Context<'_>, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let tool = find(context.toolbox(console), &self.name)?;
        match context.format {
            Format::Text => {
                console.print(&page(tool, console.out_paint, columns(console.out_is_terminal)))?;
            }
            Format::Json => print_json(&whole(tool)?, console)?,
        }
        Ok(Exit::Success)
    }

    #[cfg(feature = "mcp")]
    fn servers(&self) -> McpSelection {
        McpSelection::OfTool(self.name.clone())
    }
}

fn page(tool: &Tool, paint: Paint, columns: Option<usize>) -> String {
    let mut page = paint.bold(tool.name());
    if tool.title() != tool.name() {
        let _ = write!(page, ": {}", tool.title());
    }
    let description = paragraphs(&escape_terminal(tool.description().trim_end()));
    let _ = write!(page, "\n\n{}\n", wrap(&description, "", "", columns));
    for (label, value) in facts(tool) {
        if !value.is_empty() {
            let label = format!("{:<11}", format!("{label}:"));
            let text = wrap(&format!("{label} {value}"), "", &" ".repeat(12), columns);
            // Painted last: escape codes have no width.
            page.push_str(&text.replacen(&label, &paint.dim(&label), 1));
        }
    }
    if let Err(error) = tool.input_schema() {
        let _ = writeln!(page, "\n{error}");
        return page;
    }
    let parameters = parameters(tool);
    let _ = writeln!(
        page,
        "\n{}",
        paint.bold(if parameters.is_empty() { "It takes no arguments." } else { "Arguments" })
    );
    for parameter in &parameters {
        page.push_str(&paragraph(parameter, paint, columns));
    }
    page
}

fn facts(tool: &Tool) -> [(&'static str, String); 10] {
    let services: Vec<&str> = tool.service_names().collect();
    let location = tool.location();
    [
        ("Deprecated", tool.deprecated().unwrap_or_default().to_owned()),
        ("Groups", joined(tool.groups())),
        ("Aliases", joined(tool.aliases())),
        ("Permission", tool.permission().to_owned()),
        ("Hints", hints(tool).join(", ")),
        ("Services", services.join(", ")),
        ("Timeout", tool.timeout().map(|timeout| format!("{timeout:?}")).unwrap_or_default()),
        ("From", tool.source().to_string()),
        ("Crate", location.map(crate_of).unwrap_or_default()),
        ("Source", location.map(|location| location.to_string()).unwrap_or_default()),
    ]
}

/// The crate with its version, and its package where that has another name.
fn crate_of(location: Location) -> String {
    let (name, package, version) = (location.crate_name(), location.package, location.version);
    if name.is_empty() {
        String::new()
    } else if package.replace('-', "_") == name {
        format!("{name} {version}")
    } else {
        format!("{name} of {package} {version}")
    }
}

fn joined<'a>(words: impl Iterator<Item = &'a str>) -> String {
    words.collect::<Vec<_>>().join(", ")
}

/// Returns the tool's annotations in words.
pub(crate) fn hints(tool: &Tool) -> Vec<&'static str> {
    let about = tool.annotations();
    [
        (about.read_only_hint, "read only"),
        (about.destructive_hint == Some(true), "may be destructive"),
        (about.destructive_hint == Some(false), "not destructive"),
        (about.idempotent_hint, "idempotent"),
        (about.open_world_hint == Some(true), "reaches beyond this machine"),
        (about.open_world_hint == Some(false), "stays on this machine"),
        (tool.is_auto_execute(), "runs without asking"),
        (tool.is_optional(), "only if an allow list names it"),
    ]
    .into_iter()
    .filter_map(|(is_so, hint)| is_so.then_some(hint))
    .collect()
}

fn paragraph(parameter: &Parameter<'_>, paint: Paint, columns: Option<usize>) -> String {
    let mut notes = vec![type_word(&parameter.ty)];
    notes.push(if parameter.required { "required" } else { "optional" }.to_owned());
    notes.extend(rules(&parameter.ty));
    // Names and descriptions may come from a server.
    let name = escape_terminal(parameter.name);
    let line = wrap(&format!("{name}  {}", escape_terminal(&notes.join(", "))), "  ", "      ", columns);
    let mut text = line.replacen(&*name, &paint.bold(&name), 1);
    text.push_str(&wrap(&escape_terminal(parameter.description), "      ", "      ", columns));
    text.push_str(&escape_terminal(&shape::lines(&parameter.ty, "      ", columns)));
    text
}

/// All that is known of a tool, as JSON.
pub(crate) fn whole(tool: &Tool) -> Result<Value, Stop> {
    let services: Vec<&str> = tool.service_names().collect();
    let mut whole = serde_json::to_value(tool.definition().map_err(|error| Stop::from(&error))?)?;
    let facts = json!({
        "groups": tool.groups().collect::<Vec<_>>(),
        "aliases": tool.aliases().collect::<Vec<_>>(),
        "permission": tool.permission(),
        "services": services,
        "deprecated": tool.deprecated(),
        "optional": tool.is_optional(),
        "autoExecute": tool.is_auto_execute(),
        "timeoutSeconds": tool.timeout().map(|timeout| timeout.as_secs_f64()),
        "concurrency": tool.concurrency(),
        "source": tool.source(),
        "pluginId": tool.plugin_id(),
        "location": tool.location().map(|location| json!({
            "crate": location.crate_name(),
            "package": location.package,
            "version": location.version,
            "module": location.module,
            "file": location.file,
            "line": location.line,
            "column": location.column,
        })),
    });
    if let (Value::Object(whole), Value::Object(facts)) = (&mut whole, facts) {
        whole.extend(facts.into_iter().filter(|(_, value)| !value.is_null()));
    }
    Ok(whole)
}
