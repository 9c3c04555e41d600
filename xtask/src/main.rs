//! The chores of this repository, run as `cargo xtask SUBCOMMAND`.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "talking to the person at the terminal is its job"
)]

mod bench;
mod ci;
mod crate_count;
mod docs;
mod held;
mod host_settings;
mod layers;
mod manifest;
mod provision;
mod real_model;
mod root_names;
mod shared_features;
mod soak;
mod source;
mod suggest;
mod tally;
mod test;
mod tidy;
mod timing;
mod tree;
mod workspace;

use std::process::ExitCode;

use crate::workspace::{Result, Workspace};

/// The exit status of a command line that was not understood.
const USAGE_ERROR: u8 = 2;

struct Subcommand {
    name: &'static str,
    arguments: &'static str,
    summary: &'static str,
    run: fn(&Workspace, &[String]) -> Result,
}

const SUBCOMMANDS: &[Subcommand] = &[
    Subcommand {
        name: "test",
        arguments: "[-p CRATE]… [FILTER]",
        summary: "install what the tests need, then run them: all but those that take minutes",
        run: test::subcommand,
    },
    Subcommand {
        name: "long",
        arguments: "",
        summary: "run the tests that take minutes, and properties with more cases: half an hour in all",
        run: |workspace, args| no_arguments(args).and_then(|()| test::long(workspace)),
    },
    Subcommand {
        name: "ci",
        arguments: "",
        summary: "run what must hold before a change lands: every check, the tests, and a part of the long ones",
        run: |workspace, args| no_arguments(args).and_then(|()| ci::run(workspace)),
    },
    Subcommand {
        name: "checks",
        arguments: "",
        summary: "run the part of `ci` that runs no test: format, tidy, lints, docs, features, licences",
        run: |workspace, args| no_arguments(args).and_then(|()| ci::checks(workspace)),
    },
    Subcommand {
        name: "features",
        arguments: "",
        summary: "check each feature of the command alone, which `checks` leaves out",
        run: |workspace, args| no_arguments(args).and_then(|()| ci::features_of_command(workspace)),
    },
    Subcommand {
        name: "tidy",
        arguments: "",
        summary: "check the conventions that no compiler lint knows",
        run: |workspace, args| no_arguments(args).and_then(|()| tidy::run(workspace)),
    },
    Subcommand {
        name: "docs",
        arguments: "",
        summary: "build the documentation, with warnings denied",
        run: |workspace, args| no_arguments(args).and_then(|()| docs::run(workspace)),
    },
    Subcommand {
        name: "real-model",
        arguments: "",
        summary: "install a small language model, and have `toolkit agent` work on three tasks with it",
        run: |workspace, args| no_arguments(args).and_then(|()| real_model::run(workspace)),
    },
    Subcommand {
        name: "soak",
        arguments: "[MINUTES]",
        summary: "run the hosts for minutes, 10 if not given, and record in bench/RESULTS.md what they hold",
        run: soak::run,
    },
    Subcommand {
        name: "bench",
        arguments: "NAME [ARGS…]",
        summary: "run a benchmark of bench/; without a name, list them",
        run: bench::run,
    },
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some((name, rest)) = args.split_first() else {
        eprint!("{}", help());
        return ExitCode::from(USAGE_ERROR);
    };
    if is_help(name) {
        print!("{}", help());
        return ExitCode::SUCCESS;
    }
    let Some(subcommand) = SUBCOMMANDS.iter().find(|subcommand| subcommand.name == name) else {
        eprintln!("error: {}\n\n{}", suggest::unknown("subcommand", name, names()), help());
        return ExitCode::from(USAGE_ERROR);
    };
    if rest.iter().any(|argument| is_help(argument)) && name != "bench" {
        println!("Usage: cargo xtask {name} {}\n\n{}", subcommand.arguments, subcommand.summary);
        return ExitCode::SUCCESS;
    }
    match Workspace::locate().and_then(|workspace| (subcommand.run)(&workspace, rest)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn is_help(argument: &str) -> bool {
    matches!(argument, "-h" | "--help" | "help")
}

fn names() -> impl Iterator<Item = &'static str> {
    SUBCOMMANDS.iter().map(|subcommand| subcommand.name)
}

fn help() -> String {
    let subcommands = SUBCOMMANDS.iter().map(|Subcommand { name, arguments, summary, .. }| {
        let usage = format!("{name} {arguments}");
        format!("  {usage:<26} {summary}\n")
    });
    let head = "Usage: cargo xtask SUBCOMMAND\n\nSubcommands:\n".to_owned();
    std::iter::once(head).chain(subcommands).collect()
}

fn no_arguments(args: &[String]) -> Result {
    match args.first() {
        None => Ok(()),
        Some(argument) => Err(format!("unexpected argument `{argument}`: this subcommand takes none").into()),
    }
}
