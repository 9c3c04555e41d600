//! `mcp`: the tools for clients of the Model Context Protocol, and tools of its servers.

mod clients;
mod edit;
mod install;
mod installed;
mod serve;
mod servers;
mod sign_in;

use crate::console::Console;
use crate::exit::{Exit, Stop};
use crate::matched::text;
use crate::subcommand::{self, Request, RunAtOnce, Start};
use crate::tokens;
use clap::{ArgMatches, Command};

/// A parsed `mcp` subcommand that needs no tools.
#[derive(Debug, Clone)]
enum McpRequest {
    Add(servers::AddRequest),
    Remove { name: String },
    List,
    Install(install::InstallRequest),
    Login(sign_in::LoginRequest),
    Logout { name: String },
    Token(tokens::TokenRequest),
}

pub(crate) fn command() -> Command {
    Command::new("mcp")
        .about("Serves the tools over MCP, and manages the MCP servers to import tools from")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(serve::command())
        .subcommands(servers::commands())
        .subcommands(sign_in::commands())
        .subcommands(install::commands())
        .subcommand(tokens::command(tokens::MCP))
}

pub(crate) fn request(matches: &mut ArgMatches) -> Result<Request, Stop> {
    let Some((name, mut matches)) = matches.remove_subcommand() else {
        return Err(Stop::usage("a subcommand is missing; `mcp --help` lists them"));
    };
    let server = |matches: &mut ArgMatches| text(matches, "name").unwrap_or_default();
    Ok(subcommand::at_once(match name.as_str() {
        "serve" => return Ok(subcommand::run(serve::request(&mut matches))),
        "test" => return Ok(subcommand::run(servers::test_request(&mut matches))),
        "add" => McpRequest::Add(servers::add_request(&mut matches)?),
        "remove" => McpRequest::Remove { name: server(&mut matches) },
        "login" => McpRequest::Login(sign_in::request(&mut matches)),
        "logout" => McpRequest::Logout { name: server(&mut matches) },
        "token" => McpRequest::Token(tokens::request(&mut matches, tokens::MCP)?),
        "install" => McpRequest::Install(install::install_request(&mut matches)),
        "uninstall" => McpRequest::Install(install::uninstall_request(&mut matches)),
        _ => McpRequest::List,
    }))
}

impl RunAtOnce for McpRequest {
    fn run(&self, start: Start<'_>, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let Start { load, caller, format, .. } = start;
        match self {
            Self::Add(request) => servers::add(request, &load, console),
            Self::Remove { name } => servers::remove(name, &load, console),
            Self::List => servers::list(&load, format, console),
            Self::Install(request) => install::run(request, &caller, load.data_dir_path(), console),
            Self::Login(request) => sign_in::login(request, &load, console),
            Self::Logout { name } => sign_in::logout(name, &load, console),
            Self::Token(request) => tokens::run(request, load.data_dir_path(), format, console),
        }
    }
}
