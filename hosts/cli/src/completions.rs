//! `completions`: a script for a shell that knows the command, every tool and every tool's flags.

use crate::console::Console;
use crate::exit::{Exit, Stop};
use crate::flags::{Flags, Purpose};
use crate::matched::required;
use crate::subcommand::{Context, Run};
use clap::builder::PossibleValuesParser;
use clap::{Arg, ArgMatches, Command, value_parser};
use clap_complete::Shell;
use toolkit::Toolbox;

/// A parsed `completions` subcommand.
#[derive(Debug)]
pub(crate) struct CompletionsRequest {
    shell: Shell,
    parts: CommandParts,
}

/// The parts of the whole command, which a script is about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CommandParts {
    /// Returns the command of this name, without the shared options and without the arguments of `call`.
    pub(crate) skeleton: fn(&str) -> Command,
    /// Returns the options that may precede or follow every subcommand.
    pub(crate) shared_options: fn() -> Vec<Arg>,
}

/// The subcommand.
pub(crate) fn command() -> Command {
    Command::new("completions")
        .about("Prints a shell completion script for this command, its tools and their flags")
        .arg(
            Arg::new("shell")
                .value_name("SHELL")
                .required(true)
                .value_parser(value_parser!(Shell))
                .help("The shell"),
        )
}

/// Returns the arguments of `completions` in the matches.
pub(crate) fn request(matches: &mut ArgMatches, parts: CommandParts) -> Result<CompletionsRequest, Stop> {
    Ok(CompletionsRequest { shell: required(matches.remove_one("shell"))?, parts })
}

impl Run for CompletionsRequest {
    fn run(&self, context: &Context<'_>, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let mut command = with_tools(context.program, self.parts, context.toolbox(console));
        // Into memory: the generators panic if the reader closes the stream.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command, context.program, &mut script);
        console.print(&String::from_utf8_lossy(&script))?;
        Ok(Exit::Success)
    }
}

/// The command with each tool as a subcommand of `call`.
fn with_tools(program: &str, parts: CommandParts, toolbox: &Toolbox) -> Command {
    let names: Vec<String> = toolbox.tools().map(|tool| tool.name().to_owned()).collect();
    // Denied tools are included, since users want them explained.
    let denied = toolbox.denied().into_iter().map(|denied| denied.tool);
    let all: Vec<String> = names.iter().cloned().chain(denied).collect();
    // Inherited options would show among the tools' flags, and clash with them.
    let CommandParts { skeleton, shared_options } = parts;
    skeleton(program)
        .args(shared_options())
        .mut_subcommands(|subcommand| subcommand.args(shared_options()))
        .mut_subcommand("describe", |describe| with_names(describe, &names))
        .mut_subcommand("explain", |explain| {
            let explain = explain.mut_subcommands(|subcommand| subcommand.args(shared_options()));
            explain.mut_subcommand("tool", |tool| with_names(tool, &all))
        })
        .mut_subcommand("schema", |schema| with_names(schema, &names))
        .mut_subcommand("call", |call| {
            let tools = toolbox.tools().map(|tool| Flags::of(tool).command(program, Purpose::Completion));
            call.disable_help_subcommand(true).subcommands(tools)
        })
}

fn with_names(command: Command, names: &[String]) -> Command {
    let names = PossibleValuesParser::new(names.to_vec());
    command.mut_arg("name", |name| name.value_parser(names))
}
