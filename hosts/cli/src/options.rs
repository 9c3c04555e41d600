//! The options and subcommands of the command: their clap definitions, and their parsed form.

#[cfg(feature = "agent")]
use crate::acp;
#[cfg(feature = "agent")]
use crate::agent;
use crate::call;
#[cfg(feature = "agent")]
use crate::chat;
use crate::completions::{self, CommandParts};
use crate::config;
#[cfg(feature = "gateway")]
use crate::cron;
use crate::describe;
use crate::docs::{self, DocsRequest};
#[cfg(any(feature = "browser", feature = "runtime", feature = "web"))]
use crate::doctor::{self, DoctorRequest};
use crate::exit::{Exit, Stop};
use crate::explain;
use crate::format::Format;
#[cfg(feature = "gateway")]
use crate::gateway;
use crate::history;
#[cfg(feature = "http")]
use crate::http;
use crate::lint;
use crate::list;
use crate::matched::text;
#[cfg(feature = "mcp")]
use crate::mcp;
use crate::new;
#[cfg(feature = "node")]
use crate::node;
use crate::permission;
use crate::schema;
#[cfg(feature = "gateway")]
use crate::sessions;
use crate::subcommand::{Request, at_once, run};
use crate::trust;
#[cfg(feature = "http")]
use crate::web_console;
use crate::wrap::{MAX_COLUMNS, help_columns, wrap};
use clap::builder::{PossibleValuesParser, ValueHint};
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use std::env::consts::EXE_SUFFIX;
use std::ffi::OsString;
use std::path::{self, Path, PathBuf};
use toolkit::{Caller, config::LoadOptions};

/// A command line that clap understood.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) format: Format,
    pub(crate) caller: Caller,
    pub(crate) load: LoadOptions,
    pub(crate) request: Request,
}

/// Returns the name under which the program was started, for help texts and completions.
pub(crate) fn program_name(args: &[OsString]) -> String {
    let program =
        args.first().map(Path::new).and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    let program = program.unwrap_or_else(|| "toolkit".to_owned());
    program.strip_suffix(EXE_SUFFIX).map(str::to_owned).unwrap_or(program)
}

/// The command that parses a command line.
pub(crate) fn command(program: &str) -> Command {
    let inherited = shared_options().into_iter().map(|option| {
        // Shown once, with the help of the command as a whole.
        let is_of_caller = option.get_help_heading() == Some(CALLER);
        option.global(true).hide(is_of_caller)
    });
    let command = skeleton(program).mut_subcommand("call", |call| call.arg(call::tool_and_flags()));
    let command = command.mut_subcommands(|subcommand| with_pointer_to_caller(subcommand, program));
    command
        .args(inherited)
        .after_help(format!("{}\n\n{}", caller_help(), Exit::help()))
        .max_term_width(MAX_COLUMNS)
}

/// Adds a note on the options of the caller, which each subcommand accepts.
fn with_pointer_to_caller(command: Command, program: &str) -> Command {
    let pointer =
        format!("Caller options, such as --workspace and --session: `{program} --help` lists them.");
    let text = match command.get_after_help() {
        Some(text) => format!("{pointer}\n\n{text}"),
        None => pointer,
    };
    command.after_help(text).mut_subcommands(|subcommand| with_pointer_to_caller(subcommand, program))
}

/// The options of the caller, for the help of the command as a whole.
fn caller_help() -> String {
    let options: Vec<(String, String)> = shared_options()
        .iter()
        .filter(|option| option.get_help_heading() == Some(CALLER))
        .map(|option| {
            let value = option.get_action().takes_values().then(|| option.get_value_names()).flatten();
            let value = value.and_then(|names| names.first()).map(|name| format!(" <{name}>"));
            let flag = format!("--{}{}", option.get_long().unwrap_or_default(), value.unwrap_or_default());
            (flag, option.get_help().map(ToString::to_string).unwrap_or_default())
        })
        .collect();
    let width = options.iter().map(|(flag, _)| flag.len()).max().unwrap_or_default();
    let mut text = String::from("Caller options, for each subcommand:\n");
    let further = " ".repeat(6 + width + 2);
    for (flag, help) in options {
        text.push_str(&wrap(&format!("{flag:width$}  {help}"), "      ", &further, Some(help_columns())));
    }
    text.truncate(text.trim_end().len());
    text
}

/// Heading of the options that identify the caller.
const CALLER: &str = "Caller";

/// A subcommand: its definition, given the program's name, and its parsed form.
struct Subcommand {
    command: fn(&str) -> Command,
    request: fn(&mut ArgMatches) -> Result<Request, Stop>,
}

/// All subcommands, in the order in which the help lists them.
const SUBCOMMANDS: &[Subcommand] = &[
    Subcommand { command: |_| list::command(), request: |matches| Ok(run(list::request(matches))) },
    Subcommand { command: |_| describe::command(), request: |matches| Ok(run(describe::request(matches)?)) },
    Subcommand { command: |_| explain::command(), request: |matches| Ok(run(explain::request(matches)?)) },
    Subcommand { command: call::command, request: |matches| Ok(run(call::request(matches)?)) },
    Subcommand { command: |_| schema::command(), request: |matches| Ok(run(schema::request(matches))) },
    Subcommand { command: |_| lint::command(), request: |matches| Ok(run(lint::request(matches))) },
    Subcommand { command: |_| docs::command(), request: |_| Ok(run(DocsRequest)) },
    Subcommand {
        command: |_| completions::command(),
        request: |matches| Ok(run(completions::request(matches, CommandParts { skeleton, shared_options })?)),
    },
    Subcommand { command: |_| config::command(), request: |matches| Ok(at_once(config::request(matches)?)) },
    Subcommand { command: |_| trust::command(), request: |matches| Ok(at_once(trust::request(matches))) },
    Subcommand {
        command: |_| permission::command(),
        request: |matches| Ok(run(permission::request(matches)?)),
    },
    Subcommand {
        command: |_| history::command(),
        request: |matches| Ok(at_once(history::request(matches)?)),
    },
    Subcommand { command: |_| new::command(), request: |matches| Ok(at_once(new::request(matches)?)) },
    #[cfg(any(feature = "browser", feature = "runtime", feature = "web"))]
    Subcommand { command: |_| doctor::command(), request: |_| Ok(run(DoctorRequest)) },
    #[cfg(feature = "mcp")]
    Subcommand { command: |_| mcp::command(), request: mcp::request },
    #[cfg(feature = "http")]
    Subcommand { command: |_| http::command(), request: http::request },
    #[cfg(feature = "http")]
    Subcommand { command: |_| web_console::command(), request: web_console::request },
    #[cfg(feature = "agent")]
    Subcommand { command: |_| agent::command(), request: |matches| Ok(agent::request(matches)) },
    #[cfg(feature = "agent")]
    Subcommand { command: |_| chat::command(), request: |matches| Ok(chat::request(matches)) },
    #[cfg(feature = "agent")]
    Subcommand { command: |_| acp::command(), request: |matches| Ok(at_once(acp::request(matches))) },
    #[cfg(feature = "gateway")]
    Subcommand {
        command: |_| sessions::command(),
        request: |matches| Ok(at_once(sessions::request(matches)?)),
    },
    #[cfg(feature = "gateway")]
    Subcommand {
        command: |_| gateway::command(),
        request: |matches| Ok(at_once(gateway::request(matches)?)),
    },
    #[cfg(feature = "node")]
    Subcommand { command: |_| node::command(), request: |matches| Ok(at_once(node::request(matches)?)) },
    #[cfg(feature = "gateway")]
    Subcommand { command: |_| cron::command(), request: |matches| Ok(at_once(cron::request(matches)?)) },
];

/// Returns the command without the shared options and without the arguments of `call`.
pub(crate) fn skeleton(program: &str) -> Command {
    Command::new(program.to_owned())
        .bin_name(program)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .after_help(Exit::help())
        .subcommands(SUBCOMMANDS.iter().map(|subcommand| (subcommand.command)(program)))
}

/// Returns the options that may precede or follow every subcommand.
pub(crate) fn shared_options() -> Vec<Arg> {
    let of_caller = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name(name.to_uppercase()).help(help).help_heading(CALLER)
    };
    vec![
        Arg::new("output")
            .short('o')
            .long("output")
            .value_name("FORMAT")
            .value_parser(PossibleValuesParser::new(["text", "json"]))
            .default_value("text")
            .help("Output format of results"),
        Arg::new("config")
            .long("config")
            .value_name("FILE")
            .action(ArgAction::Append)
            .value_parser(value_parser!(PathBuf))
            .value_hint(ValueHint::FilePath)
            .help("A configuration file; overrides all others")
            .help_heading("Configuration"),
        Arg::new("set")
            .long("set")
            .value_name("KEY=VALUE")
            .action(ArgAction::Append)
            .help("Sets one configuration value: `tools.profile=coding`")
            .help_heading("Configuration"),
        of_caller(
            "workspace",
            "The workspace root, to which paths are relative [default: the current directory]",
        )
        .value_name("DIR")
        .value_parser(value_parser!(PathBuf))
        .value_hint(ValueHint::DirPath),
        of_caller(
            "agent",
            "The agent on whose behalf to call: an entry of `agents`, if the configuration has any",
        ),
        of_caller("channel", "The channel of the call"),
        // Some channels give negative numbers to groups.
        of_caller("conversation", "The conversation in that channel, as the channel names it")
            .value_name("ID")
            .allow_negative_numbers(true),
        of_caller("sender", "The sender of the message in that channel, as the channel names the person")
            .value_name("ID")
            .allow_negative_numbers(true),
        of_caller("model", "The model that makes the call"),
        of_caller("provider", "The provider of that model"),
        of_caller("sandboxed", "The caller is in a sandbox").action(ArgAction::SetTrue),
        of_caller("unattended", "No approver is available, as with an MCP client that cannot show prompts")
            .action(ArgAction::SetTrue),
        of_caller("depth", "The number of parent agents of the caller [default: 0]")
            .value_name("NUMBER")
            .value_parser(value_parser!(u32)),
        of_caller("session", "The session that the call belongs to [default: one for each workspace]"),
    ]
}

impl Options {
    pub(crate) fn parse(command: Command, args: Vec<OsString>) -> Result<Self, Stop> {
        let mut matches = command.try_get_matches_from(args)?;
        let Some((name, mut subcommand)) = matches.remove_subcommand() else {
            return Err(Stop::usage("a subcommand is missing; `--help` lists them"));
        };
        let format = match text(&mut subcommand, "output").as_deref() {
            Some("json") => Format::Json,
            _ => Format::Text,
        };
        let caller = caller(&mut subcommand)?;
        let load = load_options(&caller, &mut subcommand);
        let request = request(&name, &mut subcommand)?;
        let load = match request.profile() {
            Some(profile) => load.set(format!("tools.profile={profile}")),
            None => load,
        };
        Ok(Self { format, caller, load, request })
    }
}

fn caller(matches: &mut ArgMatches) -> Result<Caller, Stop> {
    let given = matches.remove_one::<PathBuf>("workspace").unwrap_or_else(|| PathBuf::from("."));
    let unusable = |reason: &str| Stop::usage(format!("the workspace {} {reason}", given.display()));
    let workspace = path::absolute(&given).map_err(|error| unusable(&format!("cannot be used: {error}")))?;
    if !workspace.is_dir() {
        return Err(unusable("is not a directory"));
    }
    let mut caller = Caller::new().with_workspace(workspace);
    caller.agent = text(matches, "agent");
    caller.channel = text(matches, "channel");
    caller.conversation_id = text(matches, "conversation");
    caller.sender_id = text(matches, "sender");
    caller.model = text(matches, "model");
    caller.provider = text(matches, "provider");
    caller.sandboxed = matches.get_flag("sandboxed");
    caller.unattended = matches
        .get_flag("unattended")
        .then(|| "the caller is unattended (--unattended), so it has no approver".to_owned());
    caller.depth = matches.remove_one("depth").unwrap_or_default();
    // One session per workspace: output truncated in one call can be read in the next.
    caller.session_id = text(matches, "session").or_else(|| {
        let workspace = caller.workspace_dir();
        let real = workspace.canonicalize().unwrap_or_else(|_| workspace.to_owned());
        Some(format!("workspace {}", real.display()))
    });
    Ok(caller)
}

fn load_options(caller: &Caller, matches: &mut ArgMatches) -> LoadOptions {
    let load = LoadOptions::of_process(caller.workspace_dir());
    let files = matches.remove_many::<PathBuf>("config").into_iter().flatten();
    let load = files.fold(load, LoadOptions::file);
    matches.remove_many::<String>("set").into_iter().flatten().fold(load, LoadOptions::set)
}

fn request(name: &str, matches: &mut ArgMatches) -> Result<Request, Stop> {
    match SUBCOMMANDS.iter().find(|subcommand| (subcommand.command)("").get_name() == name) {
        Some(subcommand) => (subcommand.request)(matches),
        None => Err(Stop::usage(format!("there is no subcommand `{name}`"))),
    }
}
