//! `mcp add`, `remove`, `list` and `test`: the MCP servers whose tools are available.

use super::edit::{self, Dialect};
use crate::config;
use crate::console::Console;
use crate::definitions::print_json;
use crate::exit::{Exit, Stop};
use crate::format::Format;
use crate::matched::text;
use crate::subcommand::{Context, Run};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use tokio::runtime::Runtime;
use toolkit::{
    config::{Configuration, LoadOptions},
    text::escape_line,
};
use toolkit_host::{Host, HostBuilder, McpSelection};
use toolkit_mcp::{McpServerSettings, ServerState};

/// Arguments of `mcp add`.
#[derive(Debug, Clone)]
pub(crate) struct AddRequest {
    name: String,
    settings: Value,
    force: bool,
}

pub(super) fn commands() -> [Command; 4] {
    let name = || Arg::new("name").value_name("NAME").help("The server's name in the configuration");
    let many = |name: &'static str, value: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(value).action(ArgAction::Append).help(help)
    };
    [
        Command::new("add")
            .about("Adds a server to this user's configuration")
            .override_usage("toolkit mcp add [OPTIONS] <NAME> -- <COMMAND> [ARG]...\n       toolkit mcp add [OPTIONS] <NAME> --url <URL>")
            .arg(name().required(true))
            .arg(Arg::new("url").long("url").value_name("URL").conflicts_with("command").help("The server's URL"))
            .arg(
                Arg::new("type")
                    .long("type")
                    .value_name("TYPE")
                    .value_parser(["http", "sse"])
                    .requires("url")
                    .help("The transport: streamable HTTP, or HTTP with SSE for older servers [default: the first that works]"),
            )
            .arg(many("header", "NAME=VALUE", "A header to send with each request; `${env:TOKEN}` in the value is replaced by the variable").requires("url"))
            .arg(many("env", "NAME[=VALUE]", "A variable of its environment; without a value it is taken from yours at each start").requires("command"))
            .arg(Arg::new("cwd").long("cwd").value_name("DIR").requires("command").help("Its working directory [default: the workspace]"))
            .arg(
                Arg::new("sandbox")
                    .long("sandbox")
                    .value_name("MODE")
                    .value_parser(["off", "read-only", "workspace-write"])
                    .requires("command")
                    .help("Its sandbox"),
            )
            .arg(
                Arg::new("no-network")
                    .long("no-network")
                    .action(ArgAction::SetTrue)
                    .requires("sandbox")
                    .help("Blocks the network in its sandbox"),
            )
            .arg(
                Arg::new("timeout-ms")
                    .long("timeout-ms")
                    .value_name("NUMBER")
                    .value_parser(value_parser!(u64).range(1..=3_600_000))
                    .help("The timeout of a request, in milliseconds"),
            )
            .arg(Arg::new("force").long("force").action(ArgAction::SetTrue).help("Replaces a server of the same name"))
            .arg(
                Arg::new("command")
                    .value_name("COMMAND")
                    .num_args(1..)
                    .last(true)
                    .required_unless_present("url")
                    .help("The program to start and its arguments"),
            ),
        Command::new("remove")
            .about("Removes a server from this user's configuration")
            .arg(name().required(true)),
        Command::new("list").about("Lists the configured servers"),
        Command::new("test")
            .about("Starts the servers and lists the tools of each")
            .arg(name().help("Only this server")),
    ]
}

pub(super) fn add_request(matches: &mut ArgMatches) -> Result<AddRequest, Stop> {
    let pairs = |matches: &mut ArgMatches, id: &str| -> Vec<String> {
        matches.remove_many::<String>(id).into_iter().flatten().collect()
    };
    let name = text(matches, "name").unwrap_or_default();
    let mut settings = Map::new();
    if let Some(url) = text(matches, "url") {
        settings.insert("url".to_owned(), url.into());
    }
    let mut command = matches.remove_many::<String>("command").into_iter().flatten();
    if let Some(program) = command.next() {
        settings.insert("command".to_owned(), program.into());
        let args: Vec<String> = command.collect();
        if !args.is_empty() {
            settings.insert("args".to_owned(), args.into());
        }
    }
    let mut headers = Map::new();
    for pair in pairs(matches, "header") {
        let Some((name, value)) = pair.split_once('=') else {
            return Err(Stop::usage(format!("--header takes NAME=VALUE, and {pair:?} has no `=`")));
        };
        headers.insert(name.to_owned(), value.into());
    }
    let mut env = Map::new();
    for pair in pairs(matches, "env") {
        match pair.split_once('=') {
            Some((name, value)) => env.insert(name.to_owned(), value.into()),
            None => env.insert(pair.clone(), format!("${{env:{pair}}}").into()),
        };
    }
    for (key, members) in [("headers", headers), ("env", env)] {
        if !members.is_empty() {
            settings.insert(key.to_owned(), members.into());
        }
    }
    for key in ["cwd", "sandbox", "type"] {
        if let Some(value) = text(matches, key) {
            settings.insert(key.to_owned(), value.into());
        }
    }
    if matches.get_flag("no-network") {
        settings.insert("network".to_owned(), false.into());
    }
    if let Some(limit) = matches.remove_one::<u64>("timeout-ms") {
        settings.insert("timeoutMs".to_owned(), limit.into());
    }
    Ok(AddRequest { name, settings: settings.into(), force: matches.get_flag("force") })
}

fn user_file(load: &LoadOptions) -> Result<PathBuf, Stop> {
    let file = load.user_file_path().map(Path::to_owned);
    file.ok_or_else(|| {
        Stop::failed("there is no directory for a user's configuration; set TOOLKIT_CONFIG_DIR")
    })
}

/// Returns the text of the file with a server, or without it, if the result is valid.
fn change(file: &Path, before: &str, name: &str, settings: Option<&Value>) -> Result<String, Stop> {
    let left = |why: &str| Stop::failed(format!("{} was not changed: {why}", file.display()));
    let after = edit::changed(before, Dialect::Json5, place(before, name), name, settings)
        .map_err(|why| left(&why))?;
    // Errors in the settings are reported before the server is added, at the locations that the settings would have.
    let directory = tempfile_beside(file);
    let trial = directory.join("toolkit.json5");
    let written = std::fs::create_dir_all(&directory).and_then(|()| std::fs::write(&trial, &after));
    let checked = match written {
        Ok(()) => Configuration::load(LoadOptions::new().user_file(&trial).environment(std::env::vars_os())),
        Err(error) => return Err(left(&format!("it cannot be checked: {error}"))),
    };
    let _ = std::fs::remove_dir_all(&directory);
    match checked {
        Ok(_) => Ok(after),
        Err(error) => {
            let text = error.to_string().replace(&trial.display().to_string(), &file.display().to_string());
            Err(left(&format!("with this it could not be used: {text}")))
        }
    }
}

/// Returns a directory beside a file, since relative paths in a configuration are relative to its location.
fn tempfile_beside(file: &Path) -> PathBuf {
    let parent = file.parent().unwrap_or(Path::new("."));
    parent.join(format!(".toolkit-check-{}", std::process::id()))
}

pub(super) fn add(request: &AddRequest, load: &LoadOptions, console: &mut Console<'_>) -> Result<Exit, Stop> {
    let AddRequest { name, settings, force } = request;
    let file = user_file(load)?;
    let before = edit::read(&file)?.unwrap_or_default();
    let is_there = json5_has(&before, name);
    if is_there && !force {
        return Err(Stop::failed(format!(
            "{} has a server `{}` already; `--force` replaces it",
            file.display(),
            escape_line(name)
        )));
    }
    let after = change(&file, &before, name, Some(settings))?;
    edit::write(&file, &after)?;
    let what = if is_there { "Replaced" } else { "Added" };
    console.print(&format!("{what} `{}` in {}\n", escape_line(name), file.display()))?;
    console.note(&format!("`mcp test {}` starts it and lists its tools", escape_line(name)));
    Ok(Exit::Success)
}

pub(super) fn remove(name: &str, load: &LoadOptions, console: &mut Console<'_>) -> Result<Exit, Stop> {
    let file = user_file(load)?;
    let before = edit::read(&file)?.unwrap_or_default();
    if !json5_has(&before, name) {
        return Err(Stop::failed(format!("{} has no server `{}`", file.display(), escape_line(name))));
    }
    let after = edit::changed(&before, Dialect::Json5, place(&before, name), name, None)
        .map_err(|why| Stop::failed(format!("{} was not changed: {why}", file.display())))?;
    edit::write(&file, &after)?;
    console.print(&format!("Removed `{}` from {}\n", escape_line(name), file.display()))?;
    Ok(Exit::Success)
}

/// Paths of keys below which servers can be configured.
const PLACES: [&[&str]; 2] = [&["mcp"], &["mcp", "servers"]];

/// Returns the path of keys below which a server is configured, or would be added.
fn place(text: &str, name: &str) -> &'static [&'static str] {
    PLACES.into_iter().find(|place| stands_at(text, place, name)).unwrap_or(PLACES[0])
}

fn stands_at(text: &str, place: &[&str], name: &str) -> bool {
    edit::changed(text, Dialect::Json5, place, name, None).is_ok_and(|without| without != text)
}

/// Returns true if the text of a configuration has the server.
fn json5_has(text: &str, name: &str) -> bool {
    PLACES.iter().any(|place| stands_at(text, place, name))
}

pub(super) fn list(load: &LoadOptions, format: Format, console: &mut Console<'_>) -> Result<Exit, Stop> {
    let configuration = config::load(load.clone())?;
    config::note(&configuration, console);
    let servers = McpServerSettings::of(&configuration);
    let origin = |name: &str| {
        let pointer = format!("/mcp/{}", name.replace('~', "~0").replace('/', "~1"));
        configuration.origins().find(&pointer).map(ToString::to_string).unwrap_or_default()
    };
    if format == Format::Json {
        let each = servers.iter().map(
            |(name, settings)| json!({"name": name, "settings": shown(settings), "origin": origin(name)}),
        );
        return print_json(&each.collect(), console).map(|()| Exit::Success);
    }
    if servers.is_empty() {
        console.note("No server is configured; `mcp add NAME -- COMMAND` adds one.");
    }
    let mut text = String::new();
    for (name, settings) in &servers {
        let what = match settings {
            McpServerSettings::Command(server) => {
                let words = std::iter::once(&server.command).chain(&server.args);
                words.map(|word| escape_line(word).into_owned()).collect::<Vec<_>>().join(" ")
            }
            McpServerSettings::Url(server) => escape_line(&server.url).into_owned(),
            McpServerSettings::Unavailable(server) => format!("unavailable: {}", escape_line(&server.reason)),
            _ => String::new(),
        };
        let _ = writeln!(text, "{}  {what}  ({})", escape_line(name), escape_line(&origin(name)));
    }
    console.print(&text).map(|()| Exit::Success)
}

/// Returns the settings of a server, without secrets.
fn shown(settings: &McpServerSettings) -> Value {
    if let McpServerSettings::Unavailable(server) = settings {
        return json!({ "unavailable": server.reason });
    }
    serde_json::to_value(settings).unwrap_or_default()
}

/// A parsed `mcp test` subcommand.
#[derive(Debug, Clone)]
pub(super) struct TestRequest {
    name: Option<String>,
}

pub(super) fn test_request(matches: &mut ArgMatches) -> TestRequest {
    TestRequest { name: text(matches, "name") }
}

impl Run for TestRequest {
    fn run(&self, context: &Context<'_>, console: &mut Console<'_>) -> Result<Exit, Stop> {
        test(context.host, context.runtime, context.format, console)
    }

    fn prepare(&self, host: HostBuilder) -> HostBuilder {
        host.history(true)
    }

    fn servers(&self) -> McpSelection {
        self.name.clone().map_or(McpSelection::All, McpSelection::Named)
    }
}

fn test(host: &Host, runtime: &Runtime, format: Format, console: &mut Console<'_>) -> Result<Exit, Stop> {
    let servers = host.mcp_servers();
    if servers.status().is_empty() {
        return Err(Stop::failed("there is no such server; `mcp list` lists those that are configured"));
    }
    runtime.block_on(servers.start(host.toolkit()));
    let prompts = runtime.block_on(async { servers.prompts(&host.toolbox(host.caller()).await).await });
    // Diagnostics that arose meanwhile are printed too.
    let status = servers.status();
    let prefixes = toolkit::text::server_prefixes(status.iter().map(|status| status.name.as_str()));
    let prompts_of = |name: &str| {
        let prefix = format!("{}__", prefixes.get(name).map(String::as_str).unwrap_or_default());
        prompts.iter().filter(move |prompt| prompt.name.starts_with(&prefix))
    };
    let is_fine = status.iter().all(|status| matches!(status.state, ServerState::Ready { .. }));
    let exit = if is_fine { Exit::Success } else { Exit::Failed };
    if format == Format::Json {
        let each = status.iter().map(|status| {
            let state = match &status.state {
                ServerState::Ready { tools, about } => {
                    json!({"state": "ready", "tools": tools, "about": about})
                }
                ServerState::Failed { why } => json!({"state": "failed", "why": why}),
                _ => json!({"state": "starting"}),
            };
            let prompts: Vec<_> = prompts_of(&status.name).collect();
            json!({"name": status.name, "state": state, "prompts": prompts, "instructions": status.instructions,
                "diagnostics": status.diagnostics})
        });
        return print_json(&each.collect(), console).map(|()| exit);
    }
    let mut text = String::new();
    for status in &status {
        let name = escape_line(&status.name);
        let _ = match &status.state {
            ServerState::Ready { tools, about } => writeln!(text, "{name}: {tools} tools ({about})"),
            ServerState::Failed { why } => writeln!(text, "{name}: cannot be reached: {why}"),
            _ => writeln!(text, "{name}: is not connected yet"),
        };
        if let Some(said) = &status.instructions {
            text.push_str("  its instructions for models (untrusted):\n");
            for line in said.lines() {
                let _ = writeln!(text, "    > {line}");
            }
        }
        for prompt in prompts_of(&status.name) {
            let about = prompt.description.as_deref().or(prompt.title.as_deref());
            let about = about.map(|about| format!(": {}", escape_line(about))).unwrap_or_default();
            let _ = writeln!(text, "  prompt {}{about}", escape_line(&prompt.name));
        }
        let is_told = |message: &str| matches!(&status.state, ServerState::Failed { why } if why == message);
        for diagnostic in status.diagnostics.iter().filter(|diagnostic| !is_told(&diagnostic.message)) {
            let _ = writeln!(text, "  {}", diagnostic.message);
        }
    }
    console.print(&text).map(|()| exit)
}
