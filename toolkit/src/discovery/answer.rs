//! The tool that finds other tools, and its answers.

use super::Discovery;
use crate::events::Event;
use crate::tool::context::ToolContext;
use crate::tool::{DynamicArgs, InvalidTool, Tool, ToolBuilder};
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use toolkit_core::error::ToolError;
use toolkit_core::excerpt::cut;
use toolkit_core::output::ToolOutput;
use toolkit_core::schema::Compiled;
use toolkit_core::source::Source;

/// The default number of tools that are found; `MAX_TOOLS` is the maximum.
const LIMIT: u64 = 5;
const MAX_TOOLS: u64 = 20;
/// The most characters of a tool's description in an answer.
const DESCRIPTION: usize = 300;
/// The most characters of a tool's parameters in an answer.
const SIGNATURE: usize = 600;
/// The most groups that are named if nothing is found.
const MAX_GROUPS: usize = 40;
/// The most tools whose names are listed if nothing is found and none is in a group. Of more, none is.
const MAX_NAMES: usize = 100;

const TEXT: &str = "Finds further tools by what they do. Not every tool that you can use is shown: where none of those that are shown \
    fits the task, search before you say that it cannot be done. Describe the action and what it is done to, such as \
    \"create calendar event\" or \"refund a payment\"; a part of a name works too. What is found can be called from then on, \
    by its name. Search once for each kind of task.";

/// A search for tools: the arguments of the tool that finds others. A host with its own loop answers it with
/// [`Toolbox::answer_search`](crate::Toolbox::answer_search).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct ToolSearch {
    /// The task of the tool, or a part of its name.
    pub query: String,
    /// How many tools to find at most; 5 by default.
    #[serde(default = "default_limit", deserialize_with = "limit")]
    pub limit: u64,
}

fn default_limit() -> u64 {
    LIMIT
}

/// Reads a limit that has been validated; a number such as `5.0`, which is an integer to JSON Schema, counts as the default.
fn limit<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    Ok(Value::deserialize(deserializer)?.as_u64().unwrap_or(LIMIT))
}

impl ToolSearch {
    /// The name of the tool that finds others.
    pub const NAME: &'static str = "tool_search";

    /// Returns the tool that finds others, without its function: title, description, schema and annotations.
    pub fn tool(name: impl Into<String>) -> ToolBuilder {
        Tool::builder(name)
            .title("Search tools")
            .description(TEXT)
            .group("discovery")
            .input_schema(json!({
                "type": "object",
                "properties": {
                    "query": {
                        "type": "string",
                        "minLength": 1,
                        "maxLength": 500,
                        "description": "What the tool should do, in a few words, or a part of its name.",
                    },
                    "limit": {
                        "type": "integer",
                        "minimum": 1,
                        "maximum": MAX_TOOLS,
                        "default": LIMIT,
                        "description": "How many tools to find at most.",
                    },
                },
                "required": ["query"],
                "additionalProperties": false,
            }))
            .read_only()
            .idempotent()
            .open_world(false)
    }

    /// Returns the most tools to find.
    pub(crate) fn most(&self) -> usize {
        usize::try_from(self.limit.clamp(1, MAX_TOOLS)).unwrap_or(usize::MAX)
    }
}

/// The tools that a [search](ToolSearch) found, and the answer to the model. The best match comes first.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ToolsFound<'a> {
    /// The tools.
    pub tools: Vec<&'a Tool>,
    /// The answer: how to call the tools, or how to search again.
    pub text: String,
}

impl<'a> ToolsFound<'a> {
    /// Returns the answer; `all` are the tools that could have been found.
    pub(crate) fn new(tools: Vec<&'a Tool>, all: impl FnOnce() -> Vec<&'a Tool>) -> Self {
        let text = if tools.is_empty() { nothing(&all()) } else { told(&tools) };
        Self { tools, text }
    }
}

/// Returns the tool that finds other tools.
pub(crate) fn search_tool(discovery: &Discovery) -> Result<Tool, InvalidTool> {
    ToolSearch::tool(&discovery.name).build(|context, args| async move { search(&context, &args) })
}

fn search(context: &ToolContext, args: &DynamicArgs) -> Result<ToolOutput, ToolError> {
    let search: ToolSearch = serde_json::from_value(args.value().clone())?;
    let host = context.host();
    let ToolsFound { tools: found, text } =
        ToolsFound::new(host.find_tools(&search.query, search.most()), || host.tools());
    let names: Vec<&str> = found.iter().map(|tool| tool.name()).collect();
    let new = host.reveal_tools(&names);
    context.set_title(format!("Found {}", count(found.len())));
    context.set_metadata("found", names.clone());
    if !new.is_empty() {
        context.send_under_way(|| Event::Found { tools: new });
    }
    let details = json!({ "found": names });
    Ok(ToolOutput::text(text).with_details(details))
}

fn count(tools: usize) -> String {
    if tools == 1 { "1 tool".to_owned() } else { format!("{tools} tools") }
}

fn told(found: &[&Tool]) -> String {
    let them = if found.len() == 1 {
        "it can be called now, by this name"
    } else {
        "they can be called now, by these names"
    };
    let mut text = format!("Found {}; {them}:\n", count(found.len()));
    for tool in found {
        let signature = tool.compiled().map_or_else(|_| tool.name().to_owned(), Compiled::signature);
        let description = tool.description().split_whitespace().collect::<Vec<_>>().join(" ");
        let _ = write!(text, "\n{}\n  {}\n", cut(&signature, SIGNATURE), cut(&description, DESCRIPTION));
    }
    text
}

/// Returns the answer if nothing was found, with hints: the groups and servers that have tools.
fn nothing(tools: &[&Tool]) -> String {
    let of_server = |tool: &Tool| match tool.source() {
        Source::Mcp { server } => Some(server.to_string()),
        _ => None,
    };
    let groups: BTreeSet<String> = tools
        .iter()
        .flat_map(|tool| tool.groups().map(str::to_owned).chain(of_server(tool)).collect::<Vec<_>>())
        .collect();
    let mut text = "Found no tool. Rephrase the query: name the action and its object".to_owned();
    if !groups.is_empty() {
        let more = groups.len().saturating_sub(MAX_GROUPS);
        let shown: Vec<&str> = groups.iter().map(String::as_str).take(MAX_GROUPS).collect();
        let _ = write!(text, ". There are tools for: {}", shown.join(", "));
        if more > 0 {
            let _ = write!(text, " and {more} more");
        }
    }
    if groups.is_empty() && !tools.is_empty() && tools.len() <= MAX_NAMES {
        let names: Vec<&str> = tools.iter().map(|tool| tool.name()).collect();
        let _ = write!(text, ", or take one of these names: {}", names.join(", "));
    }
    text + ".\n"
}
