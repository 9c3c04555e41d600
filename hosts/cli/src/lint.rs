//! `lint`: problems that the tools of this program cause for a model.

use crate::console::Console;
use crate::definitions::print_json;
use crate::exit::{Exit, Stop};
use crate::format::Format;
use crate::subcommand::{Context, Run};
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use std::fmt::Write as _;
use toolkit::lint::{Lint, LintFinding, RULES};
use toolkit::{Tool, Toolkit, registry::Diagnostic, text::nearest};
#[cfg(feature = "mcp")]
use toolkit_host::McpSelection;

/// Arguments of `lint`.
#[derive(Debug)]
pub(crate) struct LintRequest {
    /// Ends with a failure where anything is found.
    deny: bool,
    max_tokens: Option<usize>,
    /// The rules that are left out.
    allow: Vec<String>,
    /// The tools to check; all if empty.
    names: Vec<String>,
    /// Leaves out the tools of servers, which are not started then.
    #[cfg_attr(not(feature = "mcp"), expect(dead_code, reason = "there are no servers"))]
    without_servers: bool,
}

pub(crate) fn command() -> Command {
    let mut rules = String::from("Rules:");
    for rule in RULES {
        let _ = write!(rules, "\n  {:<30} {}", rule.name, rule.about);
    }
    Command::new("lint")
        .about("Checks tool definitions for problems for models: missing, misleading or overlong texts")
        .long_about(
            "Checks tool definitions for problems for models: missing, misleading or overlong texts. Configured MCP servers are started, and their tools checked too.",
        )
        .after_long_help(rules)
        .arg(Arg::new("names").value_name("NAME").num_args(0..).help("Only these tools, by name or alias"))
        .arg(
            Arg::new("deny")
                .long("deny")
                .action(ArgAction::SetTrue)
                .help("Exits with code 1 if there are findings, for continuous integration"),
        )
        .arg(
            Arg::new("no_servers")
                .long("no-servers")
                .action(ArgAction::SetTrue)
                .help("Starts no MCP servers and skips their tools"),
        )
        .arg(
            Arg::new("max_tokens")
                .long("max-tokens")
                .value_name("NUMBER")
                .value_parser(value_parser!(usize))
                .help(format!(
                    "The maximum of estimated tokens of a definition [default: {}]",
                    Lint::MAX_TOKENS
                )),
        )
        .arg(
            Arg::new("allow")
                .long("allow")
                .value_name("RULE")
                .action(ArgAction::Append)
                .hide_possible_values(true)
                .value_parser(PossibleValuesParser::new(RULES.iter().map(|rule| rule.name)))
                .help("A rule to skip; `--help` lists the rules"),
        )
}

pub(crate) fn request(matches: &mut ArgMatches) -> LintRequest {
    let many = |matches: &mut ArgMatches, id: &str| -> Vec<String> {
        matches.remove_many(id).into_iter().flatten().collect()
    };
    LintRequest {
        deny: matches.get_flag("deny"),
        without_servers: matches.get_flag("no_servers"),
        max_tokens: matches.remove_one("max_tokens"),
        allow: many(matches, "allow"),
        names: many(matches, "names"),
    }
}

impl Run for LintRequest {
    fn run(&self, context: &Context<'_>, console: &mut Console<'_>) -> Result<Exit, Stop> {
        // The servers are started with the tools of a caller.
        context.toolbox(console);
        run(self, context.host.toolkit(), &context.noticed(), context.format, console)
    }

    #[cfg(feature = "mcp")]
    fn servers(&self) -> McpSelection {
        if self.without_servers { McpSelection::None } else { McpSelection::All }
    }
}

/// Prints the findings. `noticed` holds the diagnostics of servers.
fn run(
    request: &LintRequest,
    toolkit: &Toolkit,
    noticed: &[Diagnostic],
    format: Format,
    console: &mut Console<'_>,
) -> Result<Exit, Stop> {
    let tools = toolkit.tools();
    let mut only = Vec::with_capacity(request.names.len());
    for name in &request.names {
        only.push(tools.get(name).map(Tool::name).ok_or_else(|| unknown(name, &tools))?);
    }
    let mut lint = Lint::new().max_tokens(request.max_tokens.unwrap_or(Lint::MAX_TOKENS));
    // Lists in a configuration, and descriptions, may refer to core tools that are switched off.
    lint = lint.knowing(toolkit.reserved_names());
    lint = request.allow.iter().fold(lint, Lint::without);
    // All tools are checked: a name may be too similar to that of another tool.
    let mut findings: Vec<LintFinding> = lint.check(&tools);
    findings.retain(|finding| only.is_empty() || only.contains(&finding.tool.as_str()));
    // Tools that servers could not provide have no other findings.
    let left_out = |said: &&Diagnostic| said.message.contains(" is left out");
    let left_out: Vec<&Diagnostic> = noticed.iter().filter(left_out).filter(|_| only.is_empty()).collect();
    for diagnostic in &left_out {
        console.note(&diagnostic.to_string());
    }
    match format {
        Format::Json => print_json(&serde_json::to_value(&findings)?, console)?,
        Format::Text => {
            let text = findings.iter().fold(String::new(), |text, finding| text + &format!("{finding}\n"));
            console.print(&text)?;
            let looked_at = if only.is_empty() { tools.len() } else { only.len() };
            console.note(&match findings.len() {
                0 => format!("Nothing to report of {}.", count(looked_at, "tool")),
                found => format!("{} in {}.", count(found, "finding"), count(looked_at, "tool")),
            });
        }
    }
    Ok(if request.deny && !(findings.is_empty() && left_out.is_empty()) {
        Exit::Failed
    } else {
        Exit::Success
    })
}

fn count(number: usize, what: &str) -> String {
    if number == 1 { format!("1 {what}") } else { format!("{number} {what}s") }
}

fn unknown(name: &str, tools: &[Tool]) -> Stop {
    let near = nearest(name, tools.iter().map(Tool::name));
    let advice = near.first().map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
    Stop::Error { exit: Exit::UnknownTool, message: format!("there is no tool `{name}`{advice}") }
}
