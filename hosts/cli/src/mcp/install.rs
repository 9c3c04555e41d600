//! `mcp install`: lets a client of the protocol start `mcp serve`.

use super::client_files::Client;
use super::edit::{self, Dialect};
use crate::console::Console;
use crate::exit::{Exit, Stop};
use crate::options::text;
use clap::builder::{PossibleValuesParser, ValueHint};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use std::env;
use std::io::{self, BufRead as _, IsTerminal as _};
use std::path::PathBuf;
use toolkit::Caller;

/// What stands after `mcp install`.
#[derive(Debug, Clone)]
pub(crate) struct InstallRequest {
    client: Option<Client>,
    name: String,
    file: Option<PathBuf>,
    profile: Option<String>,
    client_approves: bool,
    yes: bool,
}

pub(super) fn command() -> Command {
    Command::new("install")
        .about("Lets an editor or chat app start `mcp serve`, in the workspace: shows the change of its configuration, and asks")
        .arg(
            Arg::new("client")
                .long("client")
                .value_name("CLIENT")
                .required(true)
                .value_parser(PossibleValuesParser::new(Client::NAMES))
                .help("Whose configuration to change"),
        )
        .arg(Arg::new("name").long("name").value_name("NAME").default_value("toolkit").help("What it is called there"))
        .arg(
            Arg::new("file")
                .long("file")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .value_hint(ValueHint::FilePath)
                .help("The client's file, where it is elsewhere than usual"),
        )
        .arg(Arg::new("profile").long("profile").value_name("PROFILE").help("The profile of tools that it gets"))
        .arg(
            Arg::new("client-approves")
                .long("client-approves")
                .action(ArgAction::SetTrue)
                .help("Starts `mcp serve --client-approves`: it relies on the client's own approval of tool calls"),
        )
        .arg(Arg::new("yes").long("yes").short('y').action(ArgAction::SetTrue).help("Writes it without asking"))
}

pub(super) fn request(matches: &mut ArgMatches) -> InstallRequest {
    InstallRequest {
        client: text(matches, "client").as_deref().and_then(Client::of),
        name: text(matches, "name").unwrap_or_default(),
        file: matches.remove_one("file"),
        profile: text(matches, "profile"),
        client_approves: matches.get_flag("client-approves"),
        yes: matches.get_flag("yes"),
    }
}

pub(super) fn run(
    request: &InstallRequest,
    caller: &Caller,
    console: &mut Console<'_>,
) -> Result<Exit, Stop> {
    let client = request.client.ok_or_else(|| Stop::usage("there is no such client"))?;
    let workspace = caller.workspace_dir();
    let file = match &request.file {
        Some(file) => std::path::absolute(file)?,
        None => client.file(workspace).ok_or_else(|| {
            Stop::failed("it is not known where this client keeps its configuration; `--file` says it")
        })?,
    };
    let before = edit::read(&file)?;
    if before.is_none() && !file.parent().is_some_and(std::path::Path::is_dir) {
        return Err(Stop::failed(format!(
            "{} is not there, nor the directory that it would be in: is that client installed? `--file` names another place",
            file.display()
        )));
    }
    let before = before.unwrap_or_default();
    let program = env::current_exe()?.display().to_string();
    let mut args: Vec<String> = ["mcp", "serve", "--workspace"].map(str::to_owned).to_vec();
    args.push(workspace.display().to_string());
    if let Some(profile) = &request.profile {
        args.extend(["--profile".to_owned(), profile.clone()]);
    }
    if request.client_approves {
        args.push("--client-approves".to_owned());
    }
    let entry = client.entry(&program, &args);
    let after = edit::changed(&before, Dialect::WithComments, &[client.key()], &request.name, Some(&entry))
        .map_err(|why| Stop::failed(format!("{} is left as it is: {why}", file.display())))?;
    if after == before {
        console.note(&format!("{} has it already", file.display()));
        return Ok(Exit::Success);
    }
    console.print_said(&edit::diff(&file, &before, &after))?;
    if !request.yes && !agrees(console)? {
        return Err(Stop::failed("nothing was written"));
    }
    // Somebody else may have changed it while it was looked at.
    if edit::read(&file)?.unwrap_or_default() != before {
        return Err(Stop::failed(format!("{} has changed meanwhile; nothing was written", file.display())));
    }
    edit::write(&file, &after)?;
    console.note(&format!("wrote {}; start the client again for it to count", file.display()));
    Ok(Exit::Success)
}

fn agrees(console: &mut Console<'_>) -> Result<bool, Stop> {
    if !io::stdin().is_terminal() {
        console.note("nobody can be asked: standard input is no terminal; `--yes` writes it");
        return Ok(false);
    }
    console.note("Write this? y = yes, anything else = no");
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(matches!(line.trim(), "y" | "Y" | "yes"))
}
