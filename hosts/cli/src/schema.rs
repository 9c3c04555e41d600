//! `schema`: the definitions of the tools as JSON, in the format of the Model Context Protocol or of a provider.

use crate::console::Console;
use crate::definitions::{find, note_missing, print_json};
use crate::exit::{Exit, Stop};
use crate::matched::text;
use crate::subcommand::{Context, Run};
use clap::builder::PossibleValue;
use clap::{Arg, ArgMatches, Command, ValueEnum, value_parser};
use toolkit::{
    Toolbox,
    descriptor::Definition,
    dialects::{Definitions, Dialect},
    text::escape_line,
};
#[cfg(feature = "mcp")]
use toolkit_host::McpSelection;

/// The most parts of schemas that a dialect does not express that are listed.
const MAX_NOTES: usize = 20;

/// Arguments of `schema`.
#[derive(Debug, Clone)]
pub(crate) struct SchemaRequest {
    name: Option<String>,
    dialect: Option<Dialect>,
}

/// A dialect as a value of the command line.
#[derive(Debug, Clone, Copy)]
struct Named(Dialect);

impl ValueEnum for Named {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: &[Named] = &{
            let mut all = [Named(Dialect::Mcp); Dialect::ALL.len()];
            let mut index = 0;
            while index < all.len() {
                all[index] = Named(Dialect::ALL[index]);
                index += 1;
            }
            all
        };
        ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let value = PossibleValue::new(self.0.name());
        Some(match self.0 {
            Dialect::OpenAiChat => value.alias("openai"),
            Dialect::OpenAiChatStrict => value.alias("openai-strict"),
            _ => value,
        })
    }
}

/// The subcommand.
pub(crate) fn command() -> Command {
    Command::new("schema")
        .about("Prints the tools' definitions as JSON, in MCP format or in that of a provider")
        .arg(Arg::new("name").value_name("NAME").help("Only this tool"))
        .arg(
            Arg::new("dialect")
                .long("dialect")
                .value_name("DIALECT")
                .value_parser(value_parser!(Named))
                .help(
                    "The list `tools` of a request in the format of this provider; `openai` is `openai-chat`",
                ),
        )
}

/// Returns the arguments of `schema` in the matches.
pub(crate) fn request(matches: &mut ArgMatches) -> SchemaRequest {
    let dialect = matches.remove_one("dialect").map(|Named(dialect)| dialect);
    SchemaRequest { name: text(matches, "name"), dialect }
}

impl Run for SchemaRequest {
    fn run(&self, context: &Context<'_>, console: &mut Console<'_>) -> Result<Exit, Stop> {
        run(self, context.toolbox(console), console)?;
        Ok(Exit::Success)
    }

    #[cfg(feature = "mcp")]
    fn servers(&self) -> McpSelection {
        self.name.clone().map_or(McpSelection::All, McpSelection::OfTool)
    }
}

fn run(request: &SchemaRequest, toolbox: &Toolbox, console: &mut Console<'_>) -> Result<(), Stop> {
    let one = request.name.as_deref().map(|name| definition(toolbox, name)).transpose()?;
    if one.is_none() {
        note_missing(toolbox.tools(), console);
    }
    match (request.dialect, one) {
        (None, Some(one)) => print_json(&serde_json::to_value(one)?, console),
        (None, None) => print_json(&serde_json::to_value(toolbox.definitions())?, console),
        (Some(dialect), Some(one)) => print(&dialect.definitions([one]), console),
        (Some(dialect), None) => print(&toolbox.definitions_for(dialect), console),
    }
}

fn definition(toolbox: &Toolbox, name: &str) -> Result<Definition, Stop> {
    find(toolbox, name)?.definition().map_err(|error| Stop::from(&error))
}

/// Prints the definitions, and notes the parts of the tools' schemas that they do not express.
fn print(definitions: &Definitions, console: &mut Console<'_>) -> Result<(), Stop> {
    let lost: Vec<String> = definitions
        .tools()
        .iter()
        .flat_map(|tool| tool.loosened.iter().map(|lost| format!("`{}`: {lost}", escape_line(&tool.name))))
        .collect();
    for line in lost.iter().take(MAX_NOTES) {
        console.note(&format!("note: not expressed in this dialect: {line}"));
    }
    if lost.len() > MAX_NOTES {
        console.note(&format!("note: {} more parts of schemas are not expressed", lost.len() - MAX_NOTES));
    }
    print_json(&definitions.to_json(), console)
}
