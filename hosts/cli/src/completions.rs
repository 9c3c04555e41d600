//! `completions`: a script for a shell that knows the command, every tool and every tool's flags.

use crate::console::Console;
use crate::exit::Stop;
use crate::flags::{Flags, Purpose};
use crate::options::{shared_options, skeleton};
use clap::Command;
use clap::builder::PossibleValuesParser;
use clap_complete::Shell;
use toolkit::Toolbox;

/// Prints the script.
pub(crate) fn run(
    shell: Shell,
    program: &str,
    toolbox: &Toolbox,
    console: &mut Console<'_>,
) -> Result<(), Stop> {
    let mut command = command(program, toolbox);
    // Into memory: the generators panic if the reader closes the stream.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, program, &mut script);
    console.print(&String::from_utf8_lossy(&script))
}

/// The command with each tool as a subcommand of `call`.
fn command(program: &str, toolbox: &Toolbox) -> Command {
    let names: Vec<String> = toolbox.tools().map(|tool| tool.name().to_owned()).collect();
    // Denied tools are included, since users want them explained.
    let denied = toolbox.denied().into_iter().map(|denied| denied.tool);
    let all: Vec<String> = names.iter().cloned().chain(denied).collect();
    // Inherited options would show among the tools' flags, and clash with them.
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
