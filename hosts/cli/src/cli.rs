//! The command line program, from its arguments to the exit code.

#[cfg(feature = "agent")]
use crate::acp;
#[cfg(feature = "agent")]
use crate::agent;
use crate::call;
#[cfg(feature = "mcp")]
use crate::call::CallRequest;
#[cfg(feature = "agent")]
use crate::chat;
use crate::completions;
use crate::config;
use crate::console::Console;
use crate::exit::{Exit, Stop};
use crate::history;
#[cfg(feature = "mcp")]
use crate::mcp;
#[cfg(feature = "mcp")]
use crate::mcp::McpRequest;
use crate::new;
use crate::options::{self, Options, Request};
use crate::parts::with_models;
use crate::signals;
use crate::subcommand::Context;
use crate::trust;
use clap::error::{ContextKind, ContextValue, ErrorKind};
#[cfg(feature = "mcp")]
use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::io;
use std::process::ExitCode;
use std::time::Duration;
use tokio::runtime::{Builder as RuntimeBuilder, Runtime};
use toolkit::{
    BuildError, Builder, Toolbox, Toolkit,
    approval::TerminalApprover,
    bootstrap::{Bootstrap, FollowTask},
    config::LoadOptions,
    registry::{CleanupTask, Diagnostic, Level},
};
#[cfg(feature = "mcp")]
use toolkit_mcp::{ClientOptions, McpServers};

/// The time for everything that is open to be closed at the end.
const SHUTDOWN: Duration = Duration::from_secs(2);

/// Runs the command with the tools that are linked into this process and the arguments that it was started with.
///
/// Meant as the whole `main` of a program: it handles Ctrl-C while a tool runs, and does not wait for a blocking tool when
/// the process ends. If this process was started to supervise commands, it does only that.
pub fn main() -> ExitCode {
    #[cfg(any(feature = "browser", feature = "media", feature = "runtime", feature = "web"))]
    toolkit_sandbox::init();
    Cli::new().run(std::env::args_os())
}

/// Runs the command with the tools and services of `toolkit`. The first of `args` is the program's name.
///
/// ```no_run
/// use toolkit::Toolkit;
///
/// struct Database;
///
/// fn main() -> std::process::ExitCode {
///     toolkit_cli::run(Toolkit::builder().service(Database), std::env::args_os())
/// }
/// ```
pub fn run(toolkit: Builder, args: impl IntoIterator<Item = OsString>) -> ExitCode {
    Cli::new().toolkit(toolkit).run(args)
}

/// The command, with the additions of a host.
///
/// ```no_run
/// use toolkit_cli::Cli;
///
/// fn main() -> std::process::ExitCode {
///     Cli::new().version(env!("CARGO_PKG_VERSION")).about("The tools of our team").run(std::env::args_os())
/// }
/// ```
#[derive(Debug)]
pub struct Cli {
    toolkit: Builder,
    /// True if the host supplied its own toolkit.
    is_own: bool,
    version: String,
    about: String,
}

impl Default for Cli {
    fn default() -> Self {
        Self::new()
    }
}

impl Cli {
    /// The command with the tools that are linked into this process.
    pub fn new() -> Self {
        Self {
            toolkit: Toolkit::builder(),
            is_own: false,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            about: "Lists, describes and calls the tools that AI agents use".to_owned(),
        }
    }

    /// Replaces the toolkit, for hosts that provide services or name their tools.
    #[must_use]
    pub fn toolkit(self, toolkit: Builder) -> Self {
        Self { toolkit, is_own: true, ..self }
    }

    /// Sets the version that `--version` shows; by default that of this crate.
    #[must_use]
    pub fn version(self, version: impl Into<String>) -> Self {
        Self { version: version.into(), ..self }
    }

    /// Sets the text that `--help` shows first.
    #[must_use]
    pub fn about(self, about: impl Into<String>) -> Self {
        Self { about: about.into(), ..self }
    }

    /// Runs the command. The first of `args` is the program's name.
    pub fn run(self, args: impl IntoIterator<Item = OsString>) -> ExitCode {
        signals::survive_file_size_limit();
        // Not locked: tools may print too.
        let (mut out, mut err) = (io::stdout(), io::stderr());
        let mut console = Console::new(&mut out, &mut err).with_terminals();
        let outcome = self.try_run(args.into_iter().collect(), &mut console);
        let outcome = match outcome {
            Err(Stop::Parse(error)) => console.parse_error(&error).map(|()| match error.exit_code() {
                0 => Exit::Success,
                _ => Exit::Usage,
            }),
            other => other,
        };
        match outcome {
            Ok(exit) => exit.into(),
            Err(Stop::Error { exit, message }) => {
                console.error(&message);
                exit.into()
            }
            Err(Stop::Parse(_)) => Exit::Usage.into(),
        }
    }

    fn try_run(self, args: Vec<OsString>, console: &mut Console<'_>) -> Result<Exit, Stop> {
        let is_own = self.is_own;
        let cannot_build = move |error: BuildError| cannot_build(&error, is_own);
        let program = options::program_name(&args);
        let command = options::command(&program).version(self.version).about(self.about);
        let options = Options::parse(command.clone(), args);
        if matches!(&options, Err(Stop::Parse(error)) if error.exit_code() == 0) {
            // Help is available even if the toolkit cannot start.
            return options.map(|_| Exit::Success);
        }
        let mut toolkit = with_defaults(self.toolkit);
        #[cfg(feature = "mcp")]
        let mut servers = McpServers::new(&BTreeMap::new(), ClientOptions::new());
        if let Ok(options) = &options {
            let load = options.load.clone();
            match &options.request {
                Request::Config(request) => {
                    return config::run(*request, toolkit, load, options.format, &cannot_build, console);
                }
                Request::Trust(request) => {
                    let workspace = options.caller.workspace_dir();
                    return trust::run(request, load, workspace, options.format, console);
                }
                Request::History(request) => return history::run(request, &load, options.format, console),
                Request::New(request) => {
                    // The configuration does not matter: none of its names are reserved by core.
                    let toolkit = toolkit.build().map_err(cannot_build)?;
                    let workspace = options.caller.workspace_dir();
                    return new::run(request, &toolkit, workspace, options.format, console);
                }
                #[cfg(feature = "agent")]
                Request::Agent(request) if !request.needs_toolkit() => {
                    let (data_dir, caller) = (load.data_dir_path(), &options.caller);
                    return agent::run_without_tools(request, data_dir, caller, options.format, console);
                }
                #[cfg(feature = "agent")]
                Request::Acp(request) => {
                    return acp::run(request, toolkit, load, options.caller.clone(), for_agent);
                }
                #[cfg(feature = "mcp")]
                Request::Mcp(request) if !request.needs_toolkit() => {
                    let caller = &options.caller;
                    return mcp::run_without_tools(request, &load, caller, options.format, console);
                }
                request => {
                    let bootstrap = Bootstrap::new(for_request(toolkit, request, &load), load.clone());
                    let bootstrap = with_models(bootstrap);
                    #[cfg(feature = "mcp")]
                    let bootstrap = bootstrap.part(|toolkit, configuration| {
                        servers = mcp::servers_of(configuration, &options.caller, &load, only(request));
                        mcp::with(toolkit, &servers)
                    });
                    let (prepared, configuration) = bootstrap.prepare().map_err(config::cannot_load)?;
                    toolkit = prepared;
                    // The diagnostics contain them already.
                    if !shows_diagnostics(request) {
                        config::note(&configuration, console);
                    }
                }
            }
        }
        let toolkit = toolkit.build();
        let options = options.map_err(|stop| suggest_call(stop, toolkit.as_ref().ok(), &program))?;
        let toolkit = toolkit.map_err(cannot_build)?;
        let runtime = RuntimeBuilder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Stop::cannot_start(format!("the runtime cannot start: {error}")))?;
        let _tasks = spawn_tasks(&options, &toolkit, &runtime);
        if !shows_diagnostics(&options.request) {
            note_lost(&toolkit, &program, console);
        }
        #[cfg(feature = "mcp")]
        if let Request::Mcp(request) = options.request {
            let host = mcp::Host {
                data_dir: options.load.data_dir_path(),
                runtime: &runtime,
                format: options.format,
            };
            let exit = mcp::run(request, toolkit.clone(), &servers, options.caller, &host, console);
            runtime.block_on(toolkit.shutdown(SHUTDOWN));
            runtime.shutdown_background();
            return exit;
        }
        let toolbox = runtime.block_on(toolkit.toolbox(&options.caller));
        #[cfg(feature = "mcp")]
        mcp::note(&servers, console);
        #[cfg(feature = "mcp")]
        let noticed = mcp::noticed(&servers);
        #[cfg(not(feature = "mcp"))]
        let noticed = Vec::new();
        let exit = answer(options, &toolkit, &toolbox, &noticed, &runtime, &command, console);
        runtime.block_on(toolkit.shutdown(SHUTDOWN));
        #[cfg(feature = "mcp")]
        runtime.block_on(servers.stop());
        // A blocking tool that was cancelled may still run: the process does not wait for it.
        runtime.shutdown_background();
        exit
    }
}

/// Removes old outputs every hour, and reloads a changed configuration, since a server or a conversation may last for weeks.
fn spawn_tasks(options: &Options, toolkit: &Toolkit, runtime: &Runtime) -> Option<(CleanupTask, FollowTask)> {
    let _entered = runtime.enter();
    let follow = || toolkit.follow_configuration(options.load.clone(), config::report_reload);
    options.request.may_last().then(|| (toolkit.spawn_cleanup(), follow()))
}

/// Returns the error for a toolkit that cannot be built. A program that only calls [`main`] cannot provide services, so the
/// message names the alternatives.
fn cannot_build(error: &BuildError, is_own: bool) -> Stop {
    let mut message = error.to_string();
    if error.lacks_services() && !is_own {
        message.push_str(
            "\nhelp: `toolkit_cli::main()` provides no services: call `toolkit_cli::run(Toolkit::builder().service(value), \
             std::env::args_os())` in its place, or write a `#[toolkit::service]` function that returns the service",
        );
    }
    Stop::cannot_start(message)
}

/// Returns the servers whose tools a request needs.
#[cfg(feature = "mcp")]
fn only(request: &Request) -> mcp::Only<'_> {
    match request {
        Request::Run(subcommand) => subcommand.servers(),
        Request::Call(CallRequest { name, .. }) => mcp::Only::Tool(name),
        Request::Mcp(McpRequest::Test { name: Some(name) }) => mcp::Only::Server(name),
        Request::Mcp(_) => mcp::Only::All,
        #[cfg(feature = "agent")]
        Request::Agent(_) | Request::Chat(_) => mcp::Only::All,
        _ => mcp::Only::None,
    }
}

/// The toolkit with what holds for every request.
fn with_defaults(toolkit: Builder) -> Builder {
    let toolkit = toolkit.links_first("toolkit_cli").default_approver(TerminalApprover::new());
    match env::var_os("TOOLKIT_DATA_DIR").filter(|directory| !directory.is_empty()) {
        Some(directory) => toolkit.default_data_dir(directory),
        None => toolkit,
    }
}

/// The toolkit as a request needs it.
#[cfg_attr(
    not(feature = "agent"),
    expect(unused_variables, reason = "an agent alone keeps copies in the data directory")
)]
fn for_request(toolkit: Builder, request: &Request, load: &LoadOptions) -> Builder {
    match request {
        #[cfg(feature = "agent")]
        Request::Agent(_) | Request::Chat(_) => for_agent(toolkit, load),
        // The next command is the same session, and another process.
        Request::Call(_) => toolkit.keeps_history().for_one_call().keep_session_approvals(SESSION_APPROVAL),
        #[cfg(feature = "mcp")]
        Request::Mcp(_) => toolkit.keeps_history(),
        _ => toolkit,
    }
}

/// The toolkit as an agent needs it.
#[cfg(feature = "agent")]
fn for_agent(toolkit: Builder, load: &LoadOptions) -> Builder {
    agent::with_copies(toolkit.delegates_tasks().keeps_history(), load.data_dir_path())
}

/// Returns true if all diagnostics are a part of the answer.
fn shows_diagnostics(request: &Request) -> bool {
    matches!(request, Request::Run(subcommand) if subcommand.shows_diagnostics())
}

/// Lifetime of an approval for a session. A command does not know when its session ends.
const SESSION_APPROVAL: Duration = Duration::from_hours(8);

/// Maximum number of warnings that are printed unasked.
const MAX_TOLD: usize = 20;

/// Prints the diagnostics about deny rules that may not be in effect: the user would not notice them otherwise.
fn note_lost(toolkit: &Toolkit, program: &str, console: &mut Console<'_>) {
    let is_lost = |said: &&Diagnostic| said.concerns_deny() && said.level > Level::Info;
    let lost: Vec<&Diagnostic> = toolkit.diagnostics().iter().filter(is_lost).collect();
    for diagnostic in lost.iter().take(MAX_TOLD) {
        console.note(&diagnostic.to_string());
    }
    if let Some(more) = lost.len().checked_sub(MAX_TOLD).filter(|more| *more > 0) {
        console.note(&format!("warning: {more} more like these; `{program} list --diagnostics` tells them"));
    }
}

/// Adds how to call a tool if the unknown subcommand is the name of one.
fn suggest_call(stop: Stop, toolkit: Option<&Toolkit>, program: &str) -> Stop {
    let Stop::Parse(error) = &stop else { return stop };
    match (error.kind(), error.get(ContextKind::InvalidSubcommand)) {
        (ErrorKind::InvalidSubcommand, Some(ContextValue::String(name)))
            if toolkit.is_some_and(|toolkit| toolkit.tool(name).is_some()) =>
        {
            Stop::usage(format!("`{name}` is a tool, not a subcommand; call it with `{program} call {name}`"))
        }
        _ => stop,
    }
}

fn answer(
    options: Options,
    toolkit: &Toolkit,
    toolbox: &Toolbox,
    noticed: &[Diagnostic],
    runtime: &Runtime,
    command: &clap::Command,
    console: &mut Console<'_>,
) -> Result<Exit, Stop> {
    let format = options.format;
    match options.request {
        Request::Run(subcommand) => {
            return subcommand.run(&Context { toolkit, toolbox, noticed, runtime, format }, console);
        }
        Request::Completions { shell } => completions::run(shell, command.get_name(), toolbox, console)?,
        Request::Config(_) | Request::Trust(_) | Request::History(_) | Request::New(_) => {}
        #[cfg(feature = "mcp")]
        Request::Mcp(_) => {}
        #[cfg(feature = "agent")]
        Request::Agent(request) => {
            let data_dir = options.load.data_dir_path();
            return agent::run(&request, toolkit, data_dir, &options.caller, runtime, format, console);
        }
        #[cfg(feature = "agent")]
        Request::Acp(_) => {}
        #[cfg(feature = "agent")]
        Request::Chat(request) => {
            let host = chat::Host { toolkit, toolbox, data_dir: options.load.data_dir_path(), runtime };
            return chat::run(&request, &host, &options.caller, format, console);
        }
        Request::Call(request) => {
            let sweeping = runtime.spawn_blocking({
                let toolkit = toolkit.clone();
                move || toolkit.sweep_outputs()
            });
            let exit = call::run(request, format, toolbox, runtime, command.get_name(), console);
            // Files that cannot be removed now are removed the next time.
            let _ = runtime.block_on(sweeping);
            return exit;
        }
    }
    Ok(Exit::Success)
}
