//! `trust`: lets the configuration of a workspace count whole, or no more.

mod whole;

use crate::config::{Line, lines, load};
use crate::console::Console;
use crate::definitions::print_json;
use crate::exit::{Exit, Stop};
use crate::format::Format;
use crate::subcommand::{RunAtOnce, Start};
use clap::builder::ValueHint;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use toolkit::{
    config::{Configuration, Instructions, LoadOptions, TrustStore, TrustedFile, WorkspaceFile},
    skills::SkillFiles,
    text::{escape_block, escape_line},
};
use whole::{Whole, ask};

/// Arguments of `trust`.
#[derive(Debug, Clone)]
pub(crate) struct TrustRequest {
    path: Option<PathBuf>,
    action: Action,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    Ask,
    Trust,
    List,
    Revoke,
}

/// The subcommand.
pub(crate) fn command() -> Command {
    let flag = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).action(ArgAction::SetTrue).help(help)
    };
    Command::new("trust")
        .about("Trusts the `toolkit.json5` of a workspace, after showing its changes")
        .long_about(
            "Trusts the `toolkit.json5` of a workspace, after showing its changes.\n\nAn untrusted file can only restrict. A file that is changed or moved must be trusted again. The skills in the directory `skills` and the `AGENTS.md` beside it are trusted too, until one is changed or added, and so are the programs and scripts in the workspace that its MCP servers run.",
        )
        .arg(
            Arg::new("path")
                .value_name("PATH")
                .value_parser(value_parser!(PathBuf))
                .value_hint(ValueHint::AnyPath)
                .help("The file, or its directory [default: all files that apply to the workspace]"),
        )
        .arg(flag("yes", "Trusts without a prompt").conflicts_with_all(["list", "revoke"]))
        .arg(flag("list", "Lists the trusted files").conflicts_with_all(["revoke", "path"]))
        .arg(flag("revoke", "Revokes the trust"))
}

/// Returns the arguments of `trust` in the matches.
pub(crate) fn request(matches: &mut ArgMatches) -> TrustRequest {
    let action = match ["yes", "list", "revoke"].map(|name| matches.get_flag(name)) {
        [true, _, _] => Action::Trust,
        [_, true, _] => Action::List,
        [_, _, true] => Action::Revoke,
        _ => Action::Ask,
    };
    TrustRequest { path: matches.remove_one("path"), action }
}

impl RunAtOnce for TrustRequest {
    fn run(&self, start: Start<'_>, console: &mut Console<'_>) -> Result<Exit, Stop> {
        run(self, start.load, start.caller.workspace_dir(), start.format, console)
    }
}

/// Runs `trust`. `workspace` is the workspace of the command.
fn run(
    request: &TrustRequest,
    options: LoadOptions,
    workspace: &Path,
    format: Format,
    console: &mut Console<'_>,
) -> Result<Exit, Stop> {
    let data_dir = options
        .data_dir_path()
        .ok_or_else(|| Stop::failed("there is no data directory to store trust in; set TOOLKIT_DATA_DIR"))?;
    let store = TrustStore::new(data_dir);
    let file = request.path.as_deref().map(file_of).transpose()?;
    match request.action {
        Action::List => list(&store, format, console),
        Action::Revoke => revoke(&store, file, workspace, console),
        Action::Ask | Action::Trust => {
            trust(&store, options, (file.as_deref(), workspace), request.action == Action::Trust, console)
        }
    }
}

/// The file that a path means, by the real path of its directory.
fn file_of(path: &Path) -> Result<PathBuf, Stop> {
    let is_directory = path.is_dir();
    let directory = if is_directory { path } else { path.parent().unwrap_or(Path::new(".")) };
    let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    if !is_directory && path.file_name().is_none_or(|name| name != "toolkit.json5") {
        return Err(Stop::usage(format!("{} is neither a directory nor a `toolkit.json5`", path.display())));
    }
    let real = directory.canonicalize();
    let real =
        real.map_err(|error| Stop::usage(format!("{} cannot be read: {error}", directory.display())))?;
    Ok(real.join("toolkit.json5"))
}

fn shown(path: &Path) -> String {
    escape_line(&path.display().to_string()).into_owned()
}

fn list(store: &TrustStore, format: Format, console: &mut Console<'_>) -> Result<Exit, Stop> {
    let files = store.files().map_err(Stop::failed)?;
    if format == Format::Json {
        return print_json(&json!(files), console).map(|()| Exit::Success);
    }
    if files.is_empty() {
        console.note("Nothing is trusted.");
    }
    let text = files.iter().fold(String::new(), |text, file| text + &shown(&file.path) + "\n");
    console.print(&text).map(|()| Exit::Success)
}

fn revoke(
    store: &TrustStore,
    file: Option<PathBuf>,
    workspace: &Path,
    console: &mut Console<'_>,
) -> Result<Exit, Stop> {
    let file = file.map_or_else(|| file_of(workspace), Ok)?;
    if !store.revoke(&file).map_err(Stop::failed)? {
        return Err(Stop::failed(format!(
            "{} was not trusted; `trust --list` lists the trusted files",
            shown(&file)
        )));
    }
    console.print(&format!("{} can only restrict from now on\n", shown(&file))).map(|()| Exit::Success)
}

/// A file of the workspace, with what is beside it.
struct Beside {
    file: TrustedFile,
    skills: SkillFiles,
    instructions: Option<Instructions>,
}

impl Beside {
    fn read(here: &WorkspaceFile) -> Self {
        let skills = SkillFiles::read(&here.file.skills_dir());
        let instructions = here.file.path.parent().and_then(Instructions::read);
        let file = here.file.clone().with_skills(&skills).with_instructions(instructions.as_ref());
        Self { file, skills, instructions }
    }
}

/// Lets files of the workspace count whole, after showing what that changes. `workspace` is the directory that servers work in.
fn trust(
    store: &TrustStore,
    options: LoadOptions,
    (file, workspace): (Option<&Path>, &Path),
    is_decided: bool,
    console: &mut Console<'_>,
) -> Result<Exit, Stop> {
    let options = match file.and_then(Path::parent) {
        Some(directory) => options.workspace(directory),
        None => options,
    };
    let before = load(options.clone())?;
    let mut here = before
        .workspace_files()
        .iter()
        .filter(|here| file.is_none_or(|file| here.file.path == file))
        .peekable();
    if here.peek().is_none() {
        return Err(Stop::failed("there is no `toolkit.json5` to trust"));
    }
    let here: Vec<&WorkspaceFile> = here.collect();
    // The shown content is the recorded content, and it is compared with each time it is used: a file that changes meanwhile has another hash.
    let read: Vec<Beside> = here.iter().map(|here| Beside::read(here)).collect();
    let after = load(read.iter().map(|read| read.file.clone()).fold(options, LoadOptions::trusting))?;
    let mut files: Vec<TrustedFile> = Vec::new();
    let mut beside = String::new();
    let mut whole_beside = Whole::default();
    for (here, read) in here.into_iter().zip(read) {
        let (programs, shown, contents) =
            programs(&after, here, file.and_then(Path::parent).unwrap_or(workspace));
        let file = read.file.clone().with_programs(programs);
        let are_other = file.skills != here.trusted_skills;
        let is_instructed = file.instructions != here.trusted_instructions;
        if is_instructed {
            let text = instructed(here.file.path.parent(), read.instructions.as_ref());
            whole_beside.instructions(&text, read.instructions.as_ref());
            beside.push_str(&text);
        }
        if are_other && !(read.skills.files.is_empty() && here.is_trusted) {
            let text = told(&here.file.skills_dir(), &read.skills);
            whole_beside.skills(&text, &read.skills);
            beside.push_str(&text);
        }
        whole_beside.text(&shown);
        whole_beside.programs(contents);
        beside.push_str(&shown);
        if !here.is_trusted || are_other || is_instructed || file.programs != here.trusted_programs {
            files.push(file);
        }
    }
    if files.is_empty() {
        return console.print(&format!("{beside}It is trusted already.\n")).map(|()| Exit::Success);
    }
    let mut text = String::new();
    for file in &files {
        let _ = writeln!(text, "{} would change:", shown(&file.path));
    }
    let mut whole = Whole::default();
    whole.text(&text);
    let (before, after) = (lines(&before), lines(&after));
    let changes = changes(&before, &after);
    whole.changes(&changes);
    whole.append(whole_beside);
    text.push_str(&shown_changes(&changes));
    text.push_str(&beside);
    console.print(&text)?;
    if !is_decided && !ask(&text, &whole)? {
        return Err(Stop::Error { exit: Exit::Denied, message: "nothing is trusted".to_owned() });
    }
    for file in &files {
        store.trust(file).map_err(Stop::failed)?;
    }
    console.print("Trusted, until it changes.\n").map(|()| Exit::Success)
}

/// Files with their content, or with the number of bytes of those that are too large to be shown.
type Contents = Vec<(PathBuf, Result<Vec<u8>, u64>)>;

/// Returns the digests of the programs that servers of a file run, with those that the user trusted before, a text that shows the new ones,
/// and their content.
#[cfg(feature = "mcp")]
fn programs(
    after: &Configuration,
    here: &WorkspaceFile,
    workspace: &Path,
) -> (BTreeMap<PathBuf, String>, String, Contents) {
    let mut trusted = here.trusted_programs.clone();
    let mut text = String::new();
    let mut contents = Contents::new();
    for program in toolkit_mcp::project_programs(after, &here.file.path, workspace) {
        let (path, server) = (shown(&program.path), escape_line(&program.server));
        match program.sha256 {
            Ok(sha256) => {
                let before = trusted.insert(program.path, sha256.clone());
                let mark = match before {
                    Some(before) if before == sha256 => continue,
                    Some(_) => "changed: ",
                    None => "+ ",
                };
                let _ = writeln!(text, "  {mark}{path} (MCP server {server})");
                contents.extend(program.files);
            }
            Err(reason) => {
                let reason = escape_line(&reason);
                let _ = writeln!(text, "  {path} (MCP server {server}) cannot be trusted: {reason}");
            }
        }
    }
    if !text.is_empty() {
        text.insert_str(0, "These programs and scripts would be trusted as they are:\n");
    }
    (trusted, text, contents)
}

#[cfg(not(feature = "mcp"))]
fn programs(
    _: &Configuration,
    here: &WorkspaceFile,
    _: &Path,
) -> (BTreeMap<PathBuf, String>, String, Contents) {
    (here.trusted_programs.clone(), String::new(), Contents::new())
}

/// The skills that would count, for a person who is to read them before.
fn told(directory: &Path, skills: &SkillFiles) -> String {
    let mut text = format!("The skills in {} would be trusted as they are:\n", shown(directory));
    if skills.files.is_empty() {
        text.push_str("  none\n");
    }
    for file in &skills.files {
        let name = file.path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
        let _ = match &file.content {
            Ok((_, text_of)) => {
                let others = match file.helper_count() {
                    0 => String::new(),
                    1 => ", and one other file".to_owned(),
                    others => format!(", and {others} other files"),
                };
                writeln!(text, "  + {} ({} lines{others})", escape_line(&name), text_of.lines().count())
            }
            Err(reason) => writeln!(text, "  {}: {}", escape_line(&name), escape_line(reason)),
        };
    }
    text
}

/// The instructions that an agent would read, for a person who is to read them before.
fn instructed(directory: Option<&Path>, instructions: Option<&Instructions>) -> String {
    let directory = shown(directory.unwrap_or(Path::new(".")));
    let Some(instructions) = instructions else {
        return format!("The AGENTS.md in {directory} is gone, and would no longer be trusted.\n");
    };
    let mut text = format!("Agents would read the AGENTS.md in {directory}:\n");
    for line in escape_block(&instructions.text).lines() {
        let _ = writeln!(text, "  | {line}");
    }
    text
}

/// Returns the values that trust would remove and add, with `-` and `+`: the key and the value as JSON.
fn changes(before: &[Line], after: &[Line]) -> Vec<(char, String, String)> {
    let mut changes = Vec::new();
    for (mark, lines, others) in [('-', before, after), ('+', after, before)] {
        // Either may have thousands.
        let others: BTreeSet<(&str, String)> =
            others.iter().map(|other| (other.key.as_str(), other.value.to_string())).collect();
        for Line { key, value, .. } in lines {
            let value = value.to_string();
            if !others.contains(&(key.as_str(), value.clone())) {
                changes.push((mark, key.clone(), value));
            }
        }
    }
    changes
}

/// Lists the changes, for the user to read before confirming.
fn shown_changes(changes: &[(char, String, String)]) -> String {
    if changes.is_empty() {
        return "  nothing that is in effect\n".to_owned();
    }
    changes.iter().fold(String::new(), |mut text, (mark, key, value)| {
        let _ = writeln!(text, "  {mark} {} = {}", escape_line(key), escape_line(value));
        text
    })
}
