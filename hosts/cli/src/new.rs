//! `new`: writes the crate of a plugin or of a host.

mod files;
mod kind;
mod name;
mod packages;
mod paths;
mod workspace;

use crate::console::Console;
use crate::definitions::print_json;
use crate::exit::{Exit, Stop};
use crate::format::Format;
use crate::matched::{required, text};
use crate::subcommand::{RunAtOnce, Start};
use clap::builder::ValueHint;
use clap::{Arg, ArgMatches, Command, value_parser};
use files::Crate;
use kind::What;
use packages::Origin;
use serde_json::json;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use toolkit::{Toolkit, text::escape_line};
use workspace::Place;

/// Arguments of `new`.
#[derive(Debug, Clone)]
pub(crate) struct NewRequest {
    what: What,
    name: String,
    /// A checkout of this project to depend on, instead of the one that this command was built from.
    path: Option<PathBuf>,
    /// A git repository of this project to depend on.
    git: Option<String>,
    /// A commit, tag or branch of `git`.
    rev: Option<String>,
    /// A plugin that a host links.
    plugin: Option<PathBuf>,
}

/// The subcommand.
pub(crate) fn command() -> Command {
    let directory = |name: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .value_name("DIR")
            .value_parser(value_parser!(PathBuf))
            .value_hint(ValueHint::DirPath)
            .help(help)
    };
    let crate_of = |name: &'static str, about: &'static str| {
        Command::new(name)
            .about(about)
            .arg(
                Arg::new("name")
                    .value_name("NAME")
                    .required(true)
                    .help("The crate's name, and its directory's"),
            )
            .arg(directory(
                "path",
                "Depends on this checkout of toolkit [default: the one this command was built from]",
            ))
            .arg(
                Arg::new("git")
                    .long("git")
                    .value_name("URL")
                    .conflicts_with("path")
                    .help("Depends on toolkit from a git repository"),
            )
            .arg(
                Arg::new("rev")
                    .long("rev")
                    .value_name("REV")
                    .requires("git")
                    .help("The commit, tag or branch of --git [default: its default branch]"),
            )
    };
    Command::new("new")
        .about("Creates the crate of a plugin, or of a host with its own tools")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(crate_of("plugin", "Creates a crate with tools, their configuration and tests"))
        .subcommand(
            crate_of("host", "Creates a program with this whole command and its own tools")
                .arg(directory("plugin", "The crate of a plugin to link")),
        )
}

/// Returns the arguments of `new` in the matches.
pub(crate) fn request(matches: &mut ArgMatches) -> Result<NewRequest, Stop> {
    let Some((what, mut matches)) = matches.remove_subcommand() else {
        return Err(Stop::usage("a subcommand is missing; `new --help` lists them"));
    };
    let what = if what == "host" { What::Host } else { What::Plugin };
    let plugin = if what == What::Host { matches.remove_one("plugin") } else { None };
    let path = matches.remove_one("path");
    let (git, rev) = (text(&mut matches, "git"), text(&mut matches, "rev"));
    Ok(NewRequest { what, name: required(text(&mut matches, "name"))?, path, git, rev, plugin })
}

impl RunAtOnce for NewRequest {
    fn run(&self, start: Start<'_>, console: &mut Console<'_>) -> Result<Exit, Stop> {
        // The configuration does not matter: none of its names are reserved by core.
        let toolkit = start.toolkit.build().map_err(start.cannot_build)?;
        run(self, &toolkit, start.caller.workspace_dir(), start.format, console)
    }
}

/// Writes the crate into a directory of its name in `workspace`.
fn run(
    request: &NewRequest,
    toolkit: &Toolkit,
    workspace: &Path,
    format: Format,
    console: &mut Console<'_>,
) -> Result<Exit, Stop> {
    let NewRequest { what, name, path, git, rev, plugin } = request;
    name::check(name, *what, toolkit).map_err(Stop::usage)?;
    let at = |directory: &PathBuf| workspace.join(directory);
    let origin = match (git, path) {
        (Some(url), _) => Ok(Origin::Git { url: url.clone(), rev: rev.clone() }),
        (None, Some(checkout)) => Origin::checkout(&at(checkout)),
        (None, None) => Origin::of_this_command(),
    };
    let origin = origin.map_err(Stop::usage)?;
    let plugin = plugin.as_ref().map(at).map(|directory| files::plugin_at(&directory)).transpose();
    let plugin = plugin.map_err(Stop::usage)?;
    if let Some(plugin) = &plugin {
        plugin.check(name).map_err(Stop::usage)?;
    }
    let directory = workspace.join(name);
    let place = Place::of(&directory);
    let advice = match &place {
        Place::Free => None,
        Place::Within { manifest } => Some(format!(
            "# {} has a workspace; to have the crate in it, name it among its `members` and take `[workspace]` out of {name}/Cargo.toml",
            escape_line(&manifest.display().to_string())
        )),
    };
    let written = Crate { what: *what, name, origin, plugin, place }.write(&directory)?;
    let tool = name::tool_prefix(name);
    let mut next = match what {
        What::Plugin => vec![
            format!("cd {name}"),
            "cargo test".to_owned(),
            format!("# put your tools in place of {tool}_greet and its like, in src/lib.rs; then a host to try them in:"),
            format!("cd .. && toolkit new host my-host --plugin {name}"),
        ],
        What::Host => vec![
            format!("cd {name}"),
            "cargo test".to_owned(),
            "cargo run -- list".to_owned(),
            "# a further plugin is a dependency in Cargo.toml, and its name in `toolkit::link!` in src/main.rs".to_owned(),
        ],
    };
    next.extend(advice);
    match format {
        Format::Json => {
            print_json(&json!({ "directory": directory, "files": written, "next": next }), console)?;
        }
        Format::Text => {
            let mut said = format!("Wrote {name}:\n");
            for file in written {
                let _ = writeln!(said, "  {file}");
            }
            let _ = write!(said, "\nNext:\n  {}\n", next.join("\n  "));
            console.print(&said)?;
        }
    }
    Ok(Exit::Success)
}
