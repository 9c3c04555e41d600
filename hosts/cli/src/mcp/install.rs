//! `mcp install` and `mcp uninstall`: lets a client of the protocol start `mcp serve`, and takes that back.

use super::clients::{Client, Start, is_ours};
use super::edit::{self, Changed};
use super::installed::{Installed, Made};
use crate::confirm::ask;
use crate::console::Console;
use crate::exit::{Exit, Stop};
use crate::matched::text;
use clap::builder::{PossibleValuesParser, ValueHint};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use serde_json::{Map, Value, json};
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use toolkit::Caller;

/// Arguments of `mcp install` and `mcp uninstall`.
#[derive(Debug, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the command line")]
pub(crate) struct InstallRequest {
    client: Option<&'static Client>,
    name: String,
    file: Option<PathBuf>,
    is_of_project: bool,
    is_forced: bool,
    is_dry: bool,
    yes: bool,
    change: Change,
}

#[derive(Debug, Clone)]
enum Change {
    Install { profile: Option<String>, client_approves: bool },
    Uninstall,
}

pub(super) fn commands() -> [Command; 2] {
    let install = Command::new("install")
        .about("Configures an editor or chat app to start `mcp serve` in the workspace: shows the change and asks for confirmation")
        .long_about(
            "Configures an editor or chat app to start `mcp serve` in the workspace: shows the change and asks for confirmation.\n\nThe rest of the file is kept, including comments. With `json` the entry is printed in the form that most clients read, or written to the file of `--file`.",
        )
        .arg(Arg::new("profile").long("profile").value_name("PROFILE").help("Its tool profile"))
        .arg(
            Arg::new("client-approves")
                .long("client-approves")
                .action(ArgAction::SetTrue)
                .help("Starts `mcp serve --client-approves`, which relies on the client's own approval of tool calls"),
        )
        .arg(
            Arg::new("force")
                .long("force")
                .action(ArgAction::SetTrue)
                .help("Replaces an entry of the same name that this command did not create"),
        )
        .arg(Arg::new("yes").long("yes").short('y').action(ArgAction::SetTrue).help("Writes without a prompt"));
    let uninstall = Command::new("uninstall")
        .about("Removes the entry that `mcp install` wrote")
        .arg(
            Arg::new("force")
                .long("force")
                .action(ArgAction::SetTrue)
                .help("Also removes an entry of this name that `mcp install` did not create"),
        )
        .arg(
            Arg::new("yes")
                .long("yes")
                .short('y')
                .action(ArgAction::SetTrue)
                .help("No effect: there is no prompt"),
        );
    [install, uninstall].map(shared)
}

/// Adds the arguments that `install` and `uninstall` share.
fn shared(command: Command) -> Command {
    let client = |id: &'static str| {
        Arg::new(id)
            .value_name("CLIENT")
            .value_parser(PossibleValuesParser::new(Client::names()))
            .help("The client whose configuration to change")
    };
    command
        .arg(client("client").required_unless_present("of"))
        .arg(client("of").long("client").conflicts_with("client").help("The same as CLIENT"))
        .arg(
            Arg::new("name")
                .long("name")
                .value_name("NAME")
                .default_value("toolkit")
                .help("The name of the entry"),
        )
        .arg(
            Arg::new("file")
                .long("file")
                .value_name("FILE")
                .value_parser(value_parser!(PathBuf))
                .value_hint(ValueHint::FilePath)
                .help("The client's configuration file, if not in the usual place"),
        )
        .arg(
            Arg::new("project")
                .long("project")
                .action(ArgAction::SetTrue)
                .conflicts_with("file")
                .help("The client's configuration file in the workspace instead of the user's"),
        )
        .arg(
            Arg::new("dry-run")
                .long("dry-run")
                .action(ArgAction::SetTrue)
                .help("Shows the change and writes nothing"),
        )
}

pub(super) fn install_request(matches: &mut ArgMatches) -> InstallRequest {
    let change = Change::Install {
        profile: text(matches, "profile"),
        client_approves: matches.get_flag("client-approves"),
    };
    request(matches, change)
}

pub(super) fn uninstall_request(matches: &mut ArgMatches) -> InstallRequest {
    request(matches, Change::Uninstall)
}

fn request(matches: &mut ArgMatches, change: Change) -> InstallRequest {
    let client = text(matches, "client").or_else(|| text(matches, "of"));
    InstallRequest {
        client: client.as_deref().and_then(Client::of),
        name: text(matches, "name").unwrap_or_default(),
        file: matches.remove_one("file"),
        is_of_project: matches.get_flag("project"),
        is_forced: matches.get_flag("force"),
        is_dry: matches.get_flag("dry-run"),
        yes: matches.get_flag("yes"),
        change,
    }
}

pub(super) fn run(
    request: &InstallRequest,
    caller: &Caller,
    data_dir: Option<&Path>,
    console: &mut Console<'_>,
) -> Result<Exit, Stop> {
    let client = request.client.ok_or_else(|| Stop::usage("there is no such client"))?;
    let workspace = caller.workspace_dir();
    let file = match &request.file {
        Some(file) => std::path::absolute(file)?,
        None => match client.file(workspace, request.is_of_project) {
            Some(file) => file,
            None if client.is_printed() && !request.is_of_project => {
                return print(client, request, workspace, console);
            }
            None if request.is_of_project => {
                return Err(Stop::failed(format!(
                    "{} has no configuration of a project; leave out `--project`",
                    client.name
                )));
            }
            None => {
                return Err(Stop::failed(
                    "the configuration file of this client is unknown; name it with `--file`",
                ));
            }
        },
    };
    let mut installed = Installed::read(data_dir);
    match &request.change {
        Change::Install { profile, client_approves } => {
            let start = start(workspace, profile.as_deref(), *client_approves)?;
            install(client, request, &start, &file, &mut installed, console)
        }
        Change::Uninstall => uninstall(client, request, &file, &mut installed, console),
    }
}

/// The command line that a client starts: a program, and its arguments.
fn start(
    workspace: &Path,
    profile: Option<&str>,
    client_approves: bool,
) -> Result<(String, Vec<String>), Stop> {
    let mut args: Vec<String> = ["mcp", "serve", "--workspace"].map(str::to_owned).to_vec();
    args.push(workspace.display().to_string());
    if let Some(profile) = profile {
        args.extend(["--profile".to_owned(), profile.to_owned()]);
    }
    if client_approves {
        args.push("--client-approves".to_owned());
    }
    Ok((env::current_exe()?.display().to_string(), args))
}

fn entry(client: &Client, name: &str, (program, args): &(String, Vec<String>)) -> Map<String, Value> {
    match client.entry(&Start { name, program, args }) {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// Prints the entry, for a client that has no file here.
fn print(
    client: &Client,
    request: &InstallRequest,
    workspace: &Path,
    console: &mut Console<'_>,
) -> Result<Exit, Stop> {
    let Change::Install { profile, client_approves } = &request.change else {
        return Err(Stop::failed("`json` is not a file to remove an entry from; name one with `--file`"));
    };
    let entry = entry(client, &request.name, &start(workspace, profile.as_deref(), *client_approves)?);
    let mut whole = Value::Object(Map::from_iter([(request.name.clone(), Value::Object(entry))]));
    for key in client.keys("").into_iter().rev() {
        whole = json!({ key: whole });
    }
    console.print_said(&format!("{whole:#}\n"))?;
    Ok(Exit::Success)
}

fn install(
    client: &Client,
    request: &InstallRequest,
    start: &(String, Vec<String>),
    file: &Path,
    installed: &mut Installed,
    console: &mut Console<'_>,
) -> Result<Exit, Stop> {
    let there = edit::read(file)?;
    let is_user_file = request.file.is_some() || !request.is_of_project;
    if there.is_none() && is_user_file && !file.parent().is_some_and(Path::is_dir) {
        return Err(Stop::failed(format!(
            "{} cannot be written: its directory does not exist, so the client is probably not installed; `--file` names another file",
            file.display()
        )));
    }
    let before = there.clone().unwrap_or_default();
    let kept = |why: String| Stop::failed(format!("{} was not changed: {why}", file.display()));
    let (format, keys, name) = (client.format(), client.keys(&before), &request.name);
    let known = format.entry(&before, &keys, name).map_err(kept)?;
    let is_others = known.as_ref().is_some_and(|known| !is_ours(known, &start.0));
    if is_others && !request.is_forced {
        return Err(kept(format!(
            "it has an entry `{name}` that starts something else; use another `--name`, or replace it with `--force`"
        )));
    }
    let text =
        if is_others { format.without(&before, &keys, name, 0).map_err(kept)? } else { before.clone() };
    let Changed { text: after, made } =
        format.with(&text, &keys, name, &entry(client, name, start)).map_err(kept)?;
    if after == before && there.is_some() {
        console.note(&format!("{} already has this entry", file.display()));
        return Ok(Exit::Success);
    }
    console.print_said(&edit::diff(file, &before, &after))?;
    if request.is_dry {
        return Ok(Exit::Success);
    }
    if !request.yes && !agrees(console)? {
        return Err(Stop::failed("nothing was written"));
    }
    write(file, there.as_deref(), &after)?;
    if known.is_none() {
        installed.note(file, name, Some(Made { file: there.is_none(), keys: made }));
    }
    console.note(&format!("wrote {}; restart the client to load it", file.display()));
    Ok(Exit::Success)
}

fn uninstall(
    client: &Client,
    request: &InstallRequest,
    file: &Path,
    installed: &mut Installed,
    console: &mut Console<'_>,
) -> Result<Exit, Stop> {
    let name = &request.name;
    let Some(before) = edit::read(file)? else {
        console.note(&format!("{} does not exist, so there is no entry `{name}` to remove", file.display()));
        return Ok(Exit::Success);
    };
    let kept = |why: String| Stop::failed(format!("{} was not changed: {why}", file.display()));
    let (format, keys) = (client.format(), client.keys(&before));
    let Some(known) = format.entry(&before, &keys, name).map_err(kept)? else {
        console.note(&format!("{} has no `{name}`", file.display()));
        return Ok(Exit::Success);
    };
    if !is_ours(&known, &env::current_exe()?.display().to_string()) && !request.is_forced {
        return Err(kept(format!(
            "its entry `{name}` starts something else and was not made by `mcp install`; `--force` removes it anyway"
        )));
    }
    let made = installed.made(file, name);
    let after = format.without(&before, &keys, name, made.keys).map_err(kept)?;
    console.print_said(&edit::diff(file, &before, &after))?;
    if request.is_dry {
        return Ok(Exit::Success);
    }
    let is_over = made.file && format.is_blank(&after) && !is_link(file);
    if is_over {
        unchanged(file, Some(&before))?;
        fs::remove_file(file).map_err(|error| kept(error.to_string()))?;
    } else {
        write(file, Some(&before), &after)?;
    }
    installed.note(file, name, None);
    let done = if is_over { "removed" } else { "wrote" };
    console.note(&format!("{done} {}; restart the client", file.display()));
    Ok(Exit::Success)
}

fn is_link(file: &Path) -> bool {
    file.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink())
}

/// Writes the change, unless another program has changed the file while the change was shown.
fn write(file: &Path, before: Option<&str>, after: &str) -> Result<(), Stop> {
    unchanged(file, before)?;
    edit::write(file, after)
}

fn unchanged(file: &Path, before: Option<&str>) -> Result<(), Stop> {
    if edit::read(file)?.as_deref() == before {
        return Ok(());
    }
    Err(Stop::failed(format!("{} has changed meanwhile; nothing was written", file.display())))
}

fn agrees(console: &mut Console<'_>) -> Result<bool, Stop> {
    let answer = ask("Write this? y = yes, anything else = no", console)?;
    if answer.is_none() {
        console.note("no approval possible: standard input is not a terminal; use `--yes` to write it");
    }
    Ok(answer == Some(true))
}
